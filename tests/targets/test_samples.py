"""Targets read from files, and the autocorrelation of a series."""

import numpy as np
import pytest

from stablessm.targets import TARGETS, SampledTarget, TargetError
from stablessm.targets.autocorrelation import autocorrelation
from stablessm.targets.samples import read_samples


@pytest.mark.parametrize(
    ("text", "column"),
    [
        ("1\n0.5\n-2e-3\n", None),
        ("rho\n1\n0.5\n-2e-3", None),
        ("\ufeffrho\r\n1\r\n 0.5 \r\n-2e-3\r\n\r\n", "rho"),
        ("t,rho\n0,1\n1,0.5\n2,-2e-3\n", "rho"),
        ('"the time","rho, measured"\n0,"1"\n1,0.5\nx,-2e-3\n', "rho, measured"),
    ],
)
def test_csv(tmp_path, text, column):
    path = tmp_path / "samples.csv"
    path.write_bytes(text.encode())
    assert read_samples(path, column).values.tolist() == [1.0, 0.5, -2e-3]


@pytest.mark.parametrize("dtype", ["float64", "float32", "int16", ">f4", "uint8"])
@pytest.mark.parametrize("shape", [(4,), (4, 1)])
def test_npy(tmp_path, dtype, shape):
    path = tmp_path / "samples.NPY"
    with open(path, "wb") as file:
        np.save(file, np.arange(4).astype(dtype).reshape(shape))
    found = read_samples(path)
    assert found.values.tolist() == [0, 1, 2, 3] and found.values.dtype == np.float64


@pytest.mark.parametrize(
    ("text", "column", "fragment"),
    [
        ("", None, "is empty"),
        ("\n \n", None, "is empty"),
        ("rho\n", None, "no samples"),
        ("1\nx\n2", None, "real numbers, but line 2 has 'x'"),
        ("1\n2+1j\n", None, "real numbers, but line 2 has '2\\+1j'"),
        ("1\nnan\n2", None, "finite, but sample 1 is nan"),
        ("nan\n1\n", None, "finite, but sample 0 is nan"),
        ("1\ninf\n2", None, "finite, but sample 1 is inf"),
        ("1\nNA\n2", None, "finite, but sample 1 is nan"),
        ("1\n\n2", None, "line 2 of .* is empty"),
        ("1_0\n2_0\n", None, "line 2 has '2_0'"),
        ("1,2\n3,4", None, "has 2 columns; name one"),
        ("a,b\n3,4", None, r"has 2 columns \(a, b\); name one"),
        ("a,b\n3,4", "c", "no column 'c'; its columns are: a, b"),
        ("a,a\n3,4", "a", "more than one column 'a'"),
        ("1\n2", "a", "does not begin with names"),
        ("a,b\n3,4\n5", "b", "line 3 of .* has 1 columns, but the first has 2"),
        ("\xff", None, "not CSV in UTF-8"),
        ('a\n"1', None, "not CSV in UTF-8"),
    ],
)
def test_a_bad_csv_is_one_sentence(tmp_path, text, column, fragment):
    path = tmp_path / "samples.csv"
    path.write_bytes(text.encode("latin-1"))
    with pytest.raises(TargetError, match=fragment):
        read_samples(path, column)


@pytest.mark.parametrize(
    ("array", "fragment"),
    [
        (np.zeros((2, 2)), r"one column, .* has the shape \(2, 2\)"),
        (np.float64(3.0), r"has the shape \(\)"),
        (np.zeros(0), "no samples"),
        (np.array([1, 2j]), "complex128"),
        (np.array(["1", "2"]), "real numbers"),
        (np.array([True]), "bool"),
        (np.array([1.0, np.nan]), "sample 1 is nan"),
        (np.array([1.0, None], object), "pickled"),
        (np.zeros(2, [("a", float)]), "real numbers"),
    ],
)
def test_a_bad_npy_is_one_sentence(tmp_path, array, fragment):
    path = tmp_path / "samples.npy"
    np.save(path, array)
    with pytest.raises(TargetError, match=fragment):
        read_samples(path)


def test_what_is_no_such_file_is_one_sentence(tmp_path):
    for name in ("samples.txt", "samples.npz", "samples"):
        with pytest.raises(TargetError, match=r"must end in \.csv or \.npy"):
            read_samples(tmp_path / name)
    with pytest.raises(TargetError, match="there is no file"):
        read_samples(tmp_path / "none.csv")
    (tmp_path / "folder.csv").mkdir()
    with pytest.raises(TargetError, match="cannot be read"):
        read_samples(tmp_path / "folder.csv")
    (tmp_path / "fake.npy").write_bytes(b"\x80\x04not an array")
    with pytest.raises(TargetError, match="damaged, or holds pickled objects"):
        read_samples(tmp_path / "fake.npy")
    np.savez(tmp_path / "several.npz", a=np.ones(2))
    (tmp_path / "several.npz").rename(tmp_path / "several.npy")
    with pytest.raises(TargetError, match="several arrays"):
        read_samples(tmp_path / "several.npy")
    np.save(tmp_path / "fine.npy", np.ones(2))
    with pytest.raises(TargetError, match="without names of columns"):
        read_samples(tmp_path / "fine.npy", "a")


def test_a_sampled_target(tmp_path):
    path = tmp_path / "rho.csv"
    path.write_text("1\n0.5\n0.25\n")
    target = SampledTarget("mine", str(path)).pinned()
    assert target.kernel().tolist() == [1.0, 0.5, 0.25]
    assert target.kernel(2, step_size=0.1).tolist() == [1.0, 0.5]
    with pytest.raises(TargetError, match=r"horizon is 4, but .* holds only 3"):
        target.kernel(4)
    path.write_text("1\n0.5\n0.26\n")
    with pytest.raises(TargetError, match="has changed: its SHA-256 was"):
        target.kernel()
    path.write_text("0\n0\n0\n")
    with pytest.raises(TargetError, match="nothing to fit"):
        SampledTarget("mine", str(path)).check(3, 1.0)


def direct(series, length):
    """The estimator by its definition, lag by lag."""
    centred = series - series.mean()
    n = len(series)
    return np.array([(centred[: n - k] * centred[k:]).sum() for k in range(length)]) / (centred**2).sum()


@pytest.mark.parametrize("size", [2, 3, 50, 97])
def test_autocorrelation_by_fourier_is_that_by_definition(size):
    series = np.random.default_rng(size).normal(size=size).cumsum() * 1e150 + 1e151
    found = autocorrelation(series, size)
    assert found[0] == 1.0
    assert np.abs(found - direct(series / 1e150, size)).max() < 1e-12
    toeplitz = found[np.abs(np.subtract.outer(np.arange(size), np.arange(size)))]
    assert np.linalg.eigvalsh(toeplitz).min() > -1e-12  # positive semidefinite, which dividing by n - k would break


def test_autocorrelation_of_an_autoregression_recovers_its_coefficient():
    noise, series = np.random.default_rng(0).normal(size=200_000), np.zeros(200_000)
    for t in range(1, len(series)):
        series[t] = 0.8 * series[t - 1] + noise[t]
    # Bartlett's formula: the standard error at lag k is about sqrt((1 + 0.64)/(1 - 0.64)/n) = 0.0048 far out.
    assert np.abs(autocorrelation(series, 8) - 0.8 ** np.arange(8)).max() < 4 * 0.0048


def test_a_series_without_autocorrelation_is_one_sentence(tmp_path):
    path = tmp_path / "flat.csv"
    path.write_text("0.1\n" * 10)
    with pytest.raises(TargetError, match=r"flat\.csv': a series that does not vary"):
        SampledTarget("flat", str(path), correlated=True).kernel(3)
    with pytest.raises(TargetError, match="1 values has no autocorrelation"):
        autocorrelation(np.ones(1), 1)


def test_the_packaged_series_is_the_yearly_sunspot_numbers():
    target = TARGETS["autocorrelation"]
    series = read_samples(target.file, target.column).values
    assert len(series) == 309 and series.max() == 190.2  # 1700 to 2008; the maximum is that of 1957
    rho = target.kernel()
    assert rho == pytest.approx(direct(series, 100), abs=1e-12)
    assert 10 <= np.argmax(rho[6:16]) + 6 <= 11  # the solar cycle
