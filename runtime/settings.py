"""Every number and path of the project, each with the reason for its value.

Fractions are of *room* (usable − fixed: what can be paged) unless a comment says otherwise.
Sizes named *_TOKENS are tokens, *_BYTES bytes, *_SECONDS seconds.
"""

import os
from pathlib import Path

from pagemind.runtime.written_path import expanded

# --- versions of what is stored -----------------------------------------------------------------

STATE_SCHEMA = 4  # state.db of an agent
HOME_SCHEMA = 4  # home.db
TIER_SCHEMA = 1  # LanceDB tables
JSON_SCHEMA = 1  # every --json answer
TRACE_SCHEMA = 1  # lines of a trace file
PORTABLE_FORMAT = 1  # of .pmz files (docs/portability.md)
FOLDER_FORMAT = 1  # of memory as Markdown
TEXT_RECIPE = 2  # what is embedded and indexed for a row; a change needs `memory rebuild`

# --- the window ---------------------------------------------------------------------------------

DEFAULT_WINDOW_TOKENS = 8192  # where neither the person, the server nor the registry knows
MIN_WINDOW_TOKENS = 1024  # below this no system prompt with functions fits
RESERVE_FRACTION = 0.15  # of the window, kept free for the reply …
RESERVE_MAX_TOKENS = 4096  # … but no more than this: longer replies are rare and cost room
RESERVE_MIN_TOKENS = 128
MIN_ROOM_FRACTION = 0.25  # of usable; below it the agent would do nothing but flush (design D6)

WARN = 0.70  # the MemGPT paper's example values
FLUSH = 1.00
KEEP = 0.50
IDLE_FLUSH = 0.90  # of flush: above it the flush runs after the reply, so that nobody waits
SUMMARY_FRACTION = 0.15
SUMMARY_GROWTH = 1.25  # how much longer than the last one a summary is taken to become
SUMMARY_TRUST = 60  # rows below it (tools of the world, documents) are counted, not summarised
TAINTED_QUESTIONS = 5  # of one turn with strangers' text in view: who is asked more says yes to all
HITS_OF_ONE_SOURCE = 5  # so many results of one untrusted source, while there are others …
HITS_SHARED = 10  # … of so many results of a search: no source may fill it
BURST = 5  # so many texts of one source or turn that say nearly the same are a burst …
BURST_LIKE = 0.75  # … which they do from this likeness on (runs of three letters in common)
PAGE_TABLE_FRACTION = 0.12
OWN_RESULT_TRUST = 80  # results of memory functions: the agent's own texts
WORLD_RESULT_TRUST = 40  # results of everything else: below SUMMARY_TRUST
UNTRUSTED_LINE_CHARS = 400  # of text from outside: longer lines are wrapped, so that each is marked
NAME_CHARS = 80  # of a name from outside that a model is shown
PREFETCH_FRACTION = 0.10
PREFETCH_TOKENS = 600  # of the memories before an event, where they are on
PREFETCH_BELOW_TOKENS = 8000  # usable; a larger window holds what a small one has to be reminded of
PREFETCH_RECALL = 4  # messages …
PREFETCH_ARCHIVAL = 4  # … passages …
PREFETCH_PAGES = 2  # … and gists of pages, at most
PREFETCH_MOST = 20  # of one kind that a definition may ask for
PREFETCH_LOOK = 40  # hits of a tier that are looked at: the best may be in the window already
PREFETCH_WORDS = 0.5  # of an event's content words: a memory that has them bears on it …
PREFETCH_UNSURE = 0.5  # … if its meaning is so near at least, of what answers a question
PREFETCH_SHARED_WORDS = 3  # from here on they may also be half of the memory's own words
PREFETCH_TELLS = 1.0  # score of a message and what it tells (TELLING_…): less is beside the point …
PREFETCH_BESIDE = 0.85  # … as is less than so much of the best memory
PREFETCH_SAME = 0.8  # of two memories' words in common: one is enough
PREFETCH_LINE_MIN_TOKENS = 12  # less of a memory says nothing
PREFETCH_SECONDS = 2.0  # that searching for it may take; where it takes longer …
PREFETCH_REST_SECONDS = 60.0  # … events go without for so long: an embedder may be down
PREFETCH_LINE_SHARE = 0.5  # of the budget that one memory may take
MESSAGE_FRACTION = 0.25  # a longer message is shown as an excerpt with a page_in handle
RESULTS_FRACTION = 0.50  # what the results of one group share
PAGE_IN_FRACTION = 0.25  # one part of a page: what a single page_in may take
PART_MIN_TOKENS = 64  # … at least
PART_LEAP = 1.25  # how far room must move before parts are cut at another size
PAGE_INS_FRACTION = 0.50  # what the pages and messages read in one turn share
PIN_FRACTION = 0.20  # all pins: a whole page and some messages; with summary and table below KEEP

PAGE_TOKENS = 1500  # a page is at most this …
PAGE_FRACTION = 1 / 6  # … or this share of room, so that three fit beside the queue
GIST_TOKENS = 48  # one line of the page table …
TABLE_LINE_TOKENS = 24  # … and what stands before it: id and span
GIST_KEYWORDS = 32  # kept for search and listings; a line of the table shows what fits
GIST_PAGES = 8  # whose gists a model writes in one call, in the idle after a turn …
GIST_RECENT = 64  # … of the newest pages: an old history would cost a call for every eight
GIST_IDLE_SECONDS = 2.0  # without a turn before it is asked
FANOUT = 16  # consecutive siblings of a directory: sixteen lines are one reading
DIRECTORY_KEYWORDS = 64
PAGE_TABLE_MAX_TOKENS = 4000  # of the table: more lines no model reads through at every step
PAGE_TABLE_MIN_TOKENS = 16  # `d0 [span] 5,000 older pages`: below it nothing old can be reached
HOT_LINES = 4  # shortcuts to what was read of late …
HOT_FRACTION = 0.25  # … and their share of the table
HEAT_READ = 1.0  # a page-in …
HEAT_HIT = 0.25  # … and a result of a search
HEAT_DECAY = 0.9  # per turn: half is left after seven …
HEAT_LEAST = 0.5  # … and below this a page is cold
HANDLE_TOKENS = 40  # a finished turn's result above this becomes a one-line handle at the flush
EXCERPT_MIN_TOKENS = 48  # an excerpt below this says nothing

CALIBRATION_MARGIN = 0.05
CALIBRATION_ALPHA = 0.3  # exponential moving average of reported ÷ estimated
CALIBRATION_RANGE = (0.5, 2.5)
CALIBRATION_MIN_TOKENS = 200  # below it the fixed overhead of a chat template drowns the ratio
MESSAGE_OVERHEAD_TOKENS = 4  # role and delimiters of one message in common chat templates
OVERFLOW_RETRIES = 3  # each with a strictly falling target
OVERFLOW_SHRINK = 0.75  # of the last target

# --- one turn -----------------------------------------------------------------------------------

MAX_STEPS = 50
MAX_CALLS = 32  # of one reply: a group is never split, so its results must fit together
MAX_TOOL_ERRORS = 8  # in a row
MAX_IDENTICAL_CALLS = 4  # same name and arguments in a row; the third answer is a nudge
NUDGE_AT = 3
MAX_PAGE_INS = 20
MAX_TURN_SECONDS = 1800.0
EMPTY_RETRIES = 1  # an empty completion is asked again once
TIME_PAUSE_SECONDS = 600.0  # after a pause this long the time stands on the message
CONVERSATION_PAUSE_SECONDS = 4 * 3600.0
DEEP_QUERIES = 3  # searches that a question is taken apart into, with depth: deep
DEEP_REPLY_TOKENS = 300
DEEP_SCOPES = 20  # that the model may choose from
FUSION_RANK = 60  # of reciprocal rank fusion
RESULT_PART_TOKENS = 600  # one part of a search answer
FIND_HITS = 60  # messages, and gists, that page_find looks at
FIND_PAGES = 8  # that it names at most
FIND_IN_VIEW = 4  # matches that still are in view are told if they are among the best so many
FIND_WHY_TOKENS = 40  # of the line that says why
FIND_MORE = 0.05  # what a page's second hit adds to its first, the third to the second …
FIND_GIST = 0.1  # … and its gist (measured: more costs exact questions their page)
TELLING_RARE = 0.8  # what it adds to a line that its words beside the question's are seldom said …
TELLING_NAMED = 0.2  # … and that it speaks of whom or what the question names
USUAL_SAMPLE = 1000  # messages, spread over all history, that tell how usual a word is …
USUAL_GROWTH = 1.25  # … until history is so much longer

# --- model calls --------------------------------------------------------------------------------

MODEL_RETRIES = 4
RETRY_BASE_SECONDS = 1.0
RETRY_MAX_SECONDS = 30.0
RETRY_AFTER_MAX_SECONDS = 120.0  # a provider that asks for more has said no
MODEL_DEADLINE_SECONDS = 300.0  # a whole call, streamed or not
MODEL_SILENCE_SECONDS = 60.0  # without a byte
CONNECT_TIMEOUT_SECONDS = 10.0
LOCAL_THREADS = 1  # two threads collapse on a busy two-core machine (measured)
LOCAL_WINDOW_TOKENS = 4096
LOCAL_MAX_TOKENS = 256
LOCAL_PREFETCH_TOKENS = 120
# What a very small model can choose from (protocol guided).
GUIDED_FUNCTIONS = ("core_append", "core_edit", "recall_search", "archival_search", "page_in")
GUIDED_RELEVANT = 0.30  # cosine at which a known fact answers a question (measured on MiniLM)
GUIDED_UNASKED = 0.50  # … a question that does not speak of the person
GUIDED_BESIDE = 0.25  # and at which it may stand beside one that does
GUIDED_TALK = 4  # messages before one that no known fact bears on
GUIDED_FACTS = 4  # that are shown with a question
GUIDED_ALL_FACTS = 12  # … when everything that is known is asked for
GUIDED_CLAIM_CHARS = 400  # of a message that is read for lasting facts
GUIDED_FACT_CHARS = 120  # one fact; a longer sentence is condensed by the model
GUIDED_NOTES = 3  # facts from one message
GUIDED_ASK_TOKENS = 64  # the answer to a narrow question
GUIDED_TOOLS_TOKENS = 400  # the longest narrow question, which is sent in place of schemas
LOCAL_BATCH_TOKENS = 64  # of a prefill; between batches it can be stopped (about a second)
LOCAL_CACHE_MIB = 128  # prompts kept beside the slot, so that a summary does not cost the prefix
PULL_CONNECT_TIMEOUT_SECONDS = 4.0  # of a model hub: out of reach should be known at once
PULL_SILENCE_SECONDS = 60.0
LOCAL_ARGUMENT_CHARS = 400  # one string argument; bounds the babble of a small model

# --- storage ------------------------------------------------------------------------------------

WRITE_BACK_ROWS = 64  # one LanceDB commit; one-row commits cost a manifest each
WRITE_BACK_BULK_ROWS = 512  # … of a backlog: many documents; they get their vectors later
WRITE_BACK_IDLE_SECONDS = 2.0
OPTIMIZE_COMMITS = 40  # compaction and cleanup after this many commits …
OPTIMIZE_ROWS = 2_000  # … or new rows: a search reads each (10 µs a field) until it is indexed …
OPTIMIZE_SHARE = 1 / 8  # … of a small table at this share of its rows already …
OPTIMIZE_MIN_ROWS = 250  # … but not for fewer than these
OPTIMIZE_REREAD = 1_000  # … or, without any pause, as soon as searches have read as many of them
# as the table has rows, but no fewer: by then they cost as much as the compaction (measured)
UPKEEP_IDLE_SECONDS = 5.0  # without anything to write: then the indices are seen to …
UPKEEP_BUSY = 8  # … or at so many times the above, where there never is such a pause …
UPKEEP_LEAVING = 2  # … and at so many by a process that leaves: many only write and leave
CLEANUP_AGE_SECONDS = 120.0  # of old versions: far longer than any search reads one
SCALAR_INDEX_ROWS = 20_000  # from here on columns that filters name have indices of their own
VECTOR_INDEX_ROWS = 50_000  # below it brute force is exact and cheap
VECTOR_RETRAIN = 4  # a table that grew so many times over has its vector index made anew …
VECTOR_SEGMENTS = 20  # … and one in more pieces than this (each compaction adds one)
VECTOR_EXACT_ROWS = 2_000  # a filter that leaves fewer rows has them compared exactly
VECTOR_PROBES = 160  # partitions (of 8,192 rows): all, up to a million rows (measured: recall .99)
VECTOR_REFINE = 200  # of the codes' best, so many (twice the asked at least) are compared exactly
# Caps of the LanceDB session, uncapped its memory grows without bound. All indices of a million
# rows fit; where they do not, each search reads them anew (measured: 2.3 times the CPU).
INDEX_CACHE_BYTES = 384 << 20
METADATA_CACHE_BYTES = 32 << 20
READ_AHEAD_BYTES = 128 << 20  # of one scan; LanceDB's own 2 GB are all used where a table has them
SQLITE_BUSY_SECONDS = 10.0
LOCK_GRACE_SECONDS = 0.2  # a listing of agents holds each lock for an instant
SEARCH_OVERFETCH = 100  # candidates of each leg before fusion
EMBED_BATCH_TOKENS = 256  # padded, of local/minilm; 32 long texts at once: 1.9 × the CPU, 1 GB more
CHUNK_TOKENS = 200  # of a passage; the embedder reads 256
EMBED_CACHE = 512  # texts of one search: queries asked again, the unwritten tail
EMBED_CACHE_CHARS = 8000  # of one of them: no embedder of ours reads more
EMBED_SECONDS = 120.0  # a batch on an embedder that was handed in; the write-back thread waits
SEARCH_EMBED_SECONDS = 10.0  # a search goes on without meanings after that
SEARCH_QUERY_CHARS = 2000  # of a query; what comes after says nothing new
SUCCESSION_LOOK = 20  # of the first hits: whether something took their place, or they something's
SUCCESSION_LONGEST = 64  # of a chain of records that took each other's place
SEARCH_LIMIT = 50  # results of one search, over all its parts
SEARCH_FILTER_VALUES = 1000  # tags or ids of one filter
SEARCH_RANKINGS = ("relevance", "park", "park-raw", "smallville-099", "crewai")  # composite.py
SEARCH_IMPORTANCE = 5.0  # of what has none, in rankings that weigh it: the middle of 1–10
SEARCH_TAIL = 5000  # unwritten rows that a search looks through
SEARCH_TAIL_EMBED = 16  # … of which so many, the newest, are embedded within the search
# What the features of a candidate weigh (tiers/ranking.py). Those of the legs a search has are
# scaled to sum to 1; the others come on top. Fitted by benchmarks/fit_weights.py on two sets at
# once and rounded: what held on one only (the length of a line, its digits) has no weight.
SEARCH_WEIGHTS = {
    "line": 0.26,
    "lines": 0.21,
    "grams": 0.3,
    "vector": 0.53,
    "speaker": 0.15,  # more costs questions about who did not say it
    "date": 0.3,
    "question": -0.25,  # a question is seldom the answer to one
    "when": 0.15,
    "before": 0.15,  # the lines around: a reply answers what was asked before it
    "after": 0.17,
    "around": 0.15,
    "conversation": 0.3,
    "subject": 0.4,  # a fact about whom the query names
    "exact": 1.0,  # an exact ABC-1234 goes before everything
}
SEARCH_MIN_COSINE = 0.1  # a nearest neighbour further away than this is near to nothing
EVAL_K = 10  # hits that `eval` looks at, where a file says nothing
EVAL_MAX_K = 200
WRITE_BACK_RETRY_SECONDS = (1.0, 60.0)  # after a failure: doubled each time, at most
WRITE_BACK_EXIT_SECONDS = 2.0  # how long the interpreter may wait for the batch in flight
TIER_LOCK_SECONDS = 60.0  # an optimise of a large table takes some seconds
NEAR_DUPLICATE = 0.92  # cosine at which an insert mentions what is already there

DEFAULT_EMBEDDING = "local/minilm"  # of an archive, where nothing is said
MEMORY_LIMIT = 10  # matches of Memory.search, where nothing is said
ARCHIVE_WAIT_SECONDS = 10.0  # for another process's change of a memory, a fraction of a second
ARCHIVE_SETTLE_SECONDS = 60.0  # without progress: a writer that leaves waits for its vectors

BLOCK_LIMIT = 2000  # characters, where a definition says nothing
PROFILE_SCHEMA_CHARS = 20_000  # of JSON: a schema is read at every edit, its outline by the model
PROFILE_OUTLINE_CHARS = 800  # of the fields that a model is told: more it would not heed
PROFILE_DEPTH = 12  # objects in objects: what is deeper nobody finds again
PROFILE_LINE_CHARS = 88  # what is longer is broken into lines, so that a diff shows what changed
PROFILE_FAULTS = 3  # that an error tells
PATTERN_SECONDS = 0.5  # a pattern of a schema can be made to take for ever
MAX_NAME = 64
MAX_DEFINITION_BYTES = 64 << 10  # written by hand; reading it takes a second for every 50 KB
MAX_DEFINITION_VALUES = 10_000  # after anchors are expanded: a page of nested ones is a bomb
MAX_EVAL_BYTES = 256 << 10  # of `eval`: a thousand questions; read as slowly as a definition
MAX_PROMPT_BYTES = 1 << 20
MAX_MESSAGE_BYTES = 64 << 20
DOCUMENT_CHARS = 1500  # of one passage of a document: a few paragraphs, two pieces when embedded
HEADING_CHARS = 160  # of the line over a passage that says where in its document it stands
PASSAGE_CHARS = 100_000  # of one passage: it is edited, shown and embedded as a whole

# --- agents as files (.pmz) ---------------------------------------------------------------------

PORTABLE_GROUP_BYTES = 4 << 20  # of text in one row group: what writer and reader hold at once
PORTABLE_GROUP_ROWS = 8192
PORTABLE_MAX_GROUP_BYTES = 256 << 20  # that a row group may say it holds: one message may be 64 MB
PORTABLE_MAX_MANIFEST_BYTES = 16 << 20
PORTABLE_FREE_BYTES = 1 << 30  # a file may unfold to this much …
PORTABLE_MAX_RATIO = 200  # … or to so many times its size; 10 GB of zeros are far beyond both
PORTABLE_MAX_DIMENSIONS = 16_384
FOREIGN_BATCH = 500  # messages of another tool's file that are stored at once
FOREIGN_LINE_BYTES = 256 << 20  # of one line of JSON lines, which is read as a whole
FOREIGN_BLOCK_FRACTION = 1 / 8  # of usable that an imported block may take; else it is a passage
FOREIGN_CUT_PAGES = 8  # pages' worth of imported talk that is cut at once
SECRET_MIN_CHARS = 8  # a shorter value of a variable would be found in innocent text

# --- the worker between turns (sleep) ----------------------------------------------------------
SLEEP_IDLE_SECONDS = 4.0  # without a turn before the worker begins: after the gists
SLEEP_LEAST_TOKENS = 1024  # of a request of the worker, whatever the window
SLEEP_LOOK_SECONDS = 30.0  # how often `up` looks whose worker's time has come
REFLECT_IMPORTANCE = 150  # reflect when memories of this importance came in sum …
REFLECT_EVERY = 100  # … or so many messages
NEAR_ASKS = 0.85  # cosine from which a model is asked whether two records say the same
NEAR_SUPERSEDES = 0.92  # … from which, of one subject, the newer takes the place unasked
NEAR_MOST = 5  # records that are shown to it for one new text
NEAR_POOL = 400  # of the newest records whose words are compared where no embedder works
EXTRACT_TURNS = 20  # that are read in one call: with what comparing costs, a call for ten …
EXTRACT_LEAST = 5  # … or so many when a conversation is over, …
EXTRACT_WAIT_SECONDS = 86400.0  # … or any that have waited for a day
EXTRACT_BACK = 200  # of the turns from before the worker was there
EXTRACT_MESSAGE_TOKENS = 400  # of one message; what is pasted beyond is not talk
EXTRACT_REPLY_TOKENS = 1500
EXTRACT_FACTS = 40  # candidates of one call; a model that finds more is babbling
EXTRACT_TEXT_CHARS = 400  # of one
CONSOLIDATE_AT_ONCE = 20  # candidates that one call decides about
CONSOLIDATE_REPLY_TOKENS = 1200
RELATION_LEARNED = 3  # values that took one another's place, until a relation is known to hold one
RELATION_SURE = 4  # … or several: so many of one for each of the other
DEDUPE_ROWS = 200  # records of one run that are compared
ENTITY_ALIKE = 0.9  # share of runs of three letters from which two names are one (Graphiti) …
ENTITY_BITS = 1.5  # … if their letters say so much each
ENTITY_ASKED = 0.5  # … and from which a model is asked
ENTITY_CANDIDATES = 10  # that it is asked about at once
ENTITY_NAME_CHARS = 200  # of a name; more is no name
RELATION_CHARS = 64
FACT_NEAR = 5  # others of the same subject and relation that adding a fact tells of
FACTS_FOUND = 200  # of one entity, in a search of facts …
FACTS_ABOUT = 1000  # of whom a query names, that rank before others
FACT_NEIGHBOURS = 50  # … and whom its first step leads to
CHANGE_ATTEMPTS = 3  # failures after which a planned change is put aside
EPISODES_OLD_DAYS = 14  # episodes older than this …
EPISODES_MANY = 50  # … where there are more than so many, are told in short …
EPISODES_CLUSTER = 0.25  # … by clusters within this cosine distance …
DIGEST_IMPORTANCE = 8  # … of this importance
EPISODE_SITUATION_CHARS = 300  # of what a turn was about …
EPISODE_ACTIONS = 12  # … of the calls in it …
EPISODE_ARGUMENTS = 6  # … of the arguments of one …
EPISODE_ARGUMENT_CHARS = 80  # … of one argument …
EPISODE_ERROR_CHARS = 200  # … and of an error, or of what a person said
EPISODES_BACK = 500  # turns of an older agent that episodes are made of
EPISODES_LOOK = 30  # that a search looks at: the same approach is shown once
EPISODES_SHOWN = 5
EPISODES_OFFERED = 10  # before an event, at most that a definition may ask for
LESSONS_AT_ONCE = 8  # episodes whose lesson a model is asked for in one call
LESSON_CHARS = 240
SKILL_CHARS = 20_000  # of what a skill says or does, and of its tests
SKILL_WHEN_CHARS = 400  # of when it is of use
SKILL_SECONDS = 5.0  # of its tests, and of one run
SKILL_MEGABYTES = 512  # of address space: the interpreter itself takes some forty
SKILLS_SHOWN = 5
SKILLS_DEEP = 16  # skills that one of them calls, all in all
SKILL_FAILURES = 3  # in a row, after which it is not offered any more …
SKILL_TRIED = 6  # … or, from so many uses on, …
SKILL_LEAST = 0.5  # … where fewer than this share went well
SKILL_RESULT_CHARS = 20_000  # of what a run prints and returns
PROMPT_JUDGED = 10  # judged answers that a change of instructions is made from
PROMPT_SAID_CHARS = 600  # of what was said in one of them
PROMPT_ANSWER_TOKENS = 600
PROMPT_DIFF_LINES = 8  # that one change may add, take away or alter
PROMPT_GROWTH_CHARS = 600  # by which it may lengthen the instructions …
PROMPT_CHARS = 8000  # … which it may not make longer than this
COMPRESS_BATCH = 64  # old episodes whose like is looked for in one commit …
COMPRESS_CLUSTERS = 8  # … until so many digests are made …
COMPRESS_MOST = 24  # … of at most so many episodes each
SEGMENT_JOIN = 0.6  # likeness from which a page joins a segment (cosine + shared keywords)
SEGMENT_HEAT = 5.0  # heat from which a segment is promoted
SEGMENT_MEMORY_SECONDS = 1e7  # µ of the recency in heat (MemoryOS, arXiv 2506.06326)
SEGMENTS = 200  # in the mid-term view; the coldest leaves
PROMOTE_PAGES = 12  # new pages of a segment that are read for facts: the newest
LIFT_FACTS = 40  # that a model is shown for the block about the person
LIFT_LINES = 8  # of it that are added or replaced at once
SEGMENT_BACK = 1000  # pages: older ones are put into no segment any more
SEGMENT_BATCH = 32  # pages that are placed in one commit
SEGMENT_NEAR = 24  # pages whose gists a new one is compared with
IMPORTANCE_CHARS = 4000  # of a text that are looked at for how much it matters
RATE_BATCH = 40  # records whose importance one call is asked for
RATE_ATTEMPTS = 3  # calls without a single usable answer, after which a batch stays unrated
REFLECT_RECENT = 100  # memories that questions are drawn from
REFLECT_LEAST = 50  # importance in sum from which the end of a conversation is a reason
REFLECT_QUESTIONS = 3
REFLECT_FOUND = 15  # memories of each kind that a question is answered with
REFLECT_INSIGHTS = 3  # for each question
INSIGHT_CHARS = 600
LINK_LIKE = 0.6  # cosine from which a new record is linked to another …
LINK_MOST = 5  # … at most so many of them
LINK_BACK = 500  # of the records from before the worker was there
LINK_BATCH = 32  # new records in one commit
LINK_TOLD = 12  # newly linked records, from which a model is asked what they say of others
LINK_SHOWN = 24  # records that it is shown then
LINK_TAGS = 4  # that it may add to one of them
LINK_TAG_CHARS = 32
LINK_CONTEXT_CHARS = 240
LINKED_FROM = 10  # hits of a search whose links are followed …
LINKED_MOST = 5  # … to at most so many records
LINKED_TOKENS = 60  # of one of them, shown beside the hits
JOB_REPLY_TOKENS = 1500  # of one answer of the worker's model
JOB_TEXT_TOKENS = 80  # of one memory that it is shown

# --- scopes, stores, forgetting -----------------------------------------------------------------

SCOPE_GUESS_LEVELS = 3  # that an inferred scope goes below the agent's own
SCOPE_GUESS_LIKE = 8  # passages that are asked where they stand
SCOPE_GUESS_NEAR = 0.4  # cosine from which one of them has a vote
TTL_MOST_DAYS = 36_525  # a hundred years: longer is for ever
STORE_KEY_CHARS = 200  # of the key of an item …
STORE_VALUE_BYTES = 64 << 10  # … of its value as JSON …
STORE_DEPTH = 32  # … and how deep that may be nested
STORE_LIMIT = 10  # items of a search that does not say
STORE_FILTERED = 1000  # items that pass a filter and are ranked by words
STORE_REFRESH_FRACTION = 1 / 16  # of an item's time: a reading before that does not write
RECORD_HEAT_DAYS = 30  # after which the freshness of a record is 1/e
RECORD_HEAT_IMPORTANCE = 5  # points of importance that weigh as much as one doubling of visits
EXPIRE_BATCH = 200  # records in one commit of the job `expire`
FORGET_LOOK_HOURS = 24  # between two looks at what was unused
FORGET_KEEP_IMPORTANCE = 8.0  # from which nothing goes cold for being unused

# --- erasure ------------------------------------------------------------------------------------
DENIED_TEXT_CHARS = 16  # shorter texts are anybody's: they are not kept out by their words
DENIED_REPLY_CHARS = 40  # … and of an agent's replies, many of which are always the same
TELLTALE_WORDS = 5  # in a row, said only in what is erased: that they stand anywhere shows a rest
TELLTALES = 20_000  # kept at most, and of one text …
TELLTALES_OF_TEXT = 12  # … so many
ERASE_WAIT_SECONDS = 20.0  # for readers that still look at what was, and for archives in use
ERASE_PREVIEW_LINES = 12  # that a person is shown at once
PURGE_KEYS = 500  # in one delete

# --- looking at all of it -----------------------------------------------------------------------

CHRONICLE_ROWS = 500  # read at once by who reads all of an agent
INSPECTOR_ROWS = 1000  # in one piece of an inspector's page …
INSPECTOR_PIECE_CHARS = 1 << 20  # … or so many characters: unpacked in some milliseconds
INSPECTOR_TEXT_CHARS = 50_000  # of one text in it; of a longer one its start is shown

# --- documents ----------------------------------------------------------------------------------

DOCUMENT_BYTES = 256 << 20  # of a PDF or DOCX, most of which are pictures
TEXT_BYTES = 64 << 20  # of a text file, and of the text that a PDF gives
HTML_BYTES = 8 << 20  # its tree takes a hundred times as much memory
DOCX_XML_BYTES = 16 << 20  # unpacked: a thousand pages; the tree takes twenty times as much
PDF_PAGES = 20_000
PDF_SECONDS = 600.0  # a broken or malicious one can take for ever
ROW_METADATA_CHARS = 4000  # of the fields of one row that are not its text
IMAGE_BYTES = 5 << 20  # of one: what every provider that takes images takes
IMAGES_PER_MESSAGE = 8
IMAGE_PIXELS_PER_TOKEN = 750  # Anthropic's own estimate; others tell less for large ones
IMAGE_MIN_TOKENS = 85
IMAGE_MAX_TOKENS = 1600
INGEST_BATCH = 128  # passages in one commit: what a kill repeats
INGEST_NEAR = 64  # passages of one run that are compared: each costs an embedding
INGEST_FAULTS = 20  # rows or pages of one file that are named; the others are counted
INBOX_PASSAGES = 200  # left for an agent in use: its next turn takes them all before it begins

# --- tasks and structured output ----------------------------------------------------------------

STRUCTURED_ATTEMPTS = 3  # to get JSON of a schema: a model that fails so often will not learn it
STRUCTURED_FAULTS = 3  # of a value that are told: more are not read
STRUCTURED_STARTS = 64  # brackets in a reply at which a value is looked for
MAX_TASK_BYTES = 256 << 10  # of a task file; reading it takes a second for every 50 KB
TASK_ATTEMPTS = 3  # of an action, where `retry` is all that is said
TASK_ASKED_AGAIN = 3  # times a person is asked who answers something else
TASK_AT_ONCE = 256  # inputs at the most: each has a thread, an agent and its files
TASK_CANCEL_SECONDS = 0.5  # between two looks at whether `tasks cancel` was said
TASK_CLUSTER_SECONDS = 10.0  # for a cluster's scheduler to answer
TASK_LOOK_SECONDS = 5.0  # between two looks, in a `wait`, at what came for the agent
TASK_LOSSES = 3  # workers that one input may lose before it is given up
TASK_JOIN_SECONDS = 0.2  # between two looks at what the process tells that runs a task
TASK_LEAVE_SECONDS = 5.0  # that a second Ctrl-C still waits for what runs at once
TASK_DEPTH = 8  # tasks inside tasks
TASK_INPUT_BYTES = 64 << 20  # of one input
TASK_RETRY_SECONDS = 2.0  # before a failed model is asked again, doubled each time
TASK_RETRY_MAX_SECONDS = 60.0
TASK_FAULTS = 100  # failed inputs that a report names; the others are counted
TASK_TAKE = 20  # results that are reduced together, where a file does not say
TASK_REPLY_TOKENS = 300  # of one reply, where a plan has to guess

# --- functions for real work (docs/tools.md) ----------------------------------------------------

TOOL_SECONDS = 300.0  # that one call may take, where nothing else is said
TOOL_MEGABYTES = 16  # of one result; a larger one is refused, not cut: nothing is lost unseen
FILE_BYTES = 16 << 20  # of a text file that is read, searched or edited
FILE_TOKENS_SAMPLE = 4000  # characters that tell how many make a token, for parts of equal size
FILES_LISTED = 500
FILES_WALKED = 50_000  # names that one listing or search looks at
GREP_MATCHES = 100
GREP_LINE_CHARS = 300  # of a line that is shown
GREP_SECONDS = 10.0  # of one search, and of one pattern on one line: some never end
HTTP_SECONDS = 30.0
HTTP_MEGABYTES = 8.0
HTTP_REDIRECTS = 5
PYTHON_SECONDS = 10.0
PYTHON_MEGABYTES = 512  # of address space: the interpreter itself takes some forty
SHELL_SECONDS = 60.0
PROCESS_OUTPUT_BYTES = 4 << 20  # of what a process prints; it is stopped there
PROCESS_TASKS = 64  # processes and threads that Python code may have beside those of its user
PROCESS_FILE_BYTES = 64 << 20  # of one file that Python code writes
MCP_SECONDS = 60.0  # of one call of an MCP server's function
MCP_START_SECONDS = 30.0  # that a server has to start and to say what it offers
MCP_END_SECONDS = 2.0  # that it has to end by itself, and then again after it was told to
MCP_BYTES = 24 << 20  # of one message of a server: TOOL_MEGABYTES as base64, and some more
MCP_STDERR_CHARS = 600  # of what a server said last, where an error quotes it
MCP_TOOLS = 128  # of one server; providers take little more in one request
MCP_DESCRIPTION_CHARS = 2000
TRUST_REFUSALS = 10  # calls that were not run, of …
TRUST_REFUSALS_OF = 500  # … so many messages, in `inspect --trust`
MCP_NAME_CHARS = 40  # of a name that is shown before a person has accepted it: no room to …
MCP_NAME_WORDS = 5  # … say anything
MCP_BACKOFF_SECONDS = 1.0  # before a server that failed is started again; doubled each time
MCP_BACKOFF_MAX_SECONDS = 60.0
MCP_PART_TOKENS = 4000  # of a page that another agent reads, unless it asks for another size
MCP_TIMEOUTS = 2  # in a row, after which a server counts as hung and is started anew
REQUIRED_NUDGES = 2  # how often a turn is told what it must call before it ends

# --- agents that are kept awake -----------------------------------------------------------------

INBOX_LOOK_SECONDS = 1.0  # between two looks at a folder …
INBOX_STILL_SECONDS = 1.0  # … and for so long a file that is whole has not changed
INBOX_CHARS = 4 << 20  # of the text of one file: a message that is shown as an excerpt
KEEPER_AT_ONCE = 8  # agents whose turns run at the same time
KEEPER_LOOK_SECONDS = 0.5  # between two looks for what other processes left (microseconds of CPU)
KEEPER_IDLE_SECONDS = 3.0  # an agent without events is let go, for others to use
KEEPER_IN_USE_SECONDS = 1.0  # before an agent that another process holds is tried again
KEEPER_RETRY_SECONDS = (2.0, 300.0)  # after a failed model: doubled each time, at most
KEEPER_GRACE_SECONDS = 20.0  # that turns are given to end when it stops …
KEEPER_CUT_SECONDS = 10.0  # … and to end soundly once they are told to
TIMER_LEAST_SECONDS = 10.0  # of `every`: what is due more often wakes an agent for nothing
TIMER_MISSED_MOST = 1000  # firings that are counted after a long sleep
TIMERS_MOST = 100  # of one agent
MAIL_LOOK_SECONDS = 0.1  # of `send`, for the answer that `up` gives …
MAIL_WAIT_SECONDS = 30.0  # … if its turn has begun by then
MAIL_TRIES = 3  # of an event that fails for itself; then it is put aside

# --- serving over HTTP ----------------------------------------------------------------------

SERVE_BODY_BYTES = 64 << 20  # of one request: eight images as base64, or a history of years
SERVE_HEAD_BYTES = 64 << 10
SERVE_HEAD_SECONDS = 10.0  # a request's head must be here by then: slow clients hold connections
SERVE_SILENCE_SECONDS = 30.0  # between two pieces of a body, or until one of an answer is read
SERVE_IDLE_SECONDS = 30  # of a connection that is kept for the next request
SERVE_CONNECTIONS = 1000
SERVE_TURNS = 64  # that clients wait for at once; more are told to come back
SERVE_READS = 16  # threads for what is no turn
SERVE_BEGIN_SECONDS = 15.0  # a stream whose turn says nothing begins after this, with pings …
SERVE_PING_SECONDS = 15.0  # … so that no proxy in between takes it for dead
SERVE_RETRY_SECONDS = 5  # told to clients that come too early
SERVE_STOP_SECONDS = 5  # for answers on their way, once the turns have ended
SERVE_TOKEN_CHARS = 16  # of a token, at least
SERVE_KEY_CHARS = 255  # of an Idempotency-Key
SERVE_RETRIED_TURNS = 8  # the newest, among which a client that tries again finds its own
TAKE_IN_BATCH = 200  # messages of a journal that are compared with a client's history at once

# --- agents together ----------------------------------------------------------------------------

AGENT_DEPTH = 5  # messages that lead to each other: 1 is sent in a person's turn
AGENT_CHAIN_MESSAGES = 100  # in all that one first message leads to
AGENT_ANSWER_SECONDS = 600.0  # that an agent waits for the answer of another …
AGENT_BUSY_SECONDS = 60.0  # … of which so long for one that is busy with something else
AGENT_FAN_OUT = 4  # agents that one message to all of a tag is answered by at once

# --- erasure ------------------------------------------------------------------------------------

KEEP_LATE_SHARE = 0.1  # of `keep`: what is older than it is erased so much later …
KEEP_LATE_SECONDS = 86_400.0  # … or a day: an agent is not cleaned anew after every turn

# --- the command line ---------------------------------------------------------------------------

CLI_PART_TOKENS = 2000  # one part of a search shown to a person: a screen or two
PASTE_CHARS = 1000  # a longer paste stands as [pasted …] in the prompt: redrawing it is slow
HISTORY_CHARS = 2000  # a longer line is not kept for arrow-up
CONSENT_ROWS = 40  # of a call that a person is asked about; of a longer one the middle is viewed
TYPING_PAUSE_SECONDS = 0.7  # without a key: what stops all threads may run now
SWITCH_SECONDS = 0.001  # of the interpreter's threads while libraries load and a person types
LOG_BYTES = 1 << 20
SPENDING_UNPAID = 200  # calls that cost nothing are counted in memory before they are written
TRACE_STATE_BYTES = 64 << 20  # of an agent that a trace holds as it was; a larger one: no replay
TRACE_STATE_ROWS = 200  # of its tables in one line
TRACE_TAIL_BYTES = 1 << 20  # of a trace that is looked through for where its agent was left
REPLAY_DIFF_LINES = 12


def home_path(home: str | Path | None = None) -> Path:
    """The folder that holds all state: the argument, `PAGEMIND_HOME`, or the platform's own."""
    if home is not None:
        return expanded(home)
    if named := os.environ.get("PAGEMIND_HOME"):
        return expanded(named)
    import platformdirs

    return platformdirs.user_data_path("pagemind", appauthor=False)
