"""Words of the work-log shape: orders, reports and facts about services. Our own, nothing quoted.

The habits of chats do not hold here: facts stand in questions too, in lines of three words, and
in lines full of figures; orders to find something carry no question mark. {s} is a service, {v}
a value, {q} the service asked about, {k} a ticket, {t} a topic, {n} a number, {d} a day, {p} a
person.
"""

from synth_chat_words import Attribute, _attribute

OPERATORS = "Priya Anders Keiko Mateo Yusuf Brigid".split()
SERVICES = (
    "billing gateway ledger notifier search-api uploader scheduler auth-proxy thumbnailer"
    " audit-trail mailer pricing inventory webhook-relay session-store exporter"
).split()

SETTINGS: tuple[Attribute, ...] = (
    _attribute(
        "port",
        "{s}: port {v} | set the port of {s} to {v} | since {s} listens on port {v} now, can "
        "somebody"
        " update the firewall?",
        "Find the port of {q}",
        "Find which service has port {v}",
        "7443, 8081, 9092, 5601, 3128, 6380, 8529, 4222, 2181, 7077, 9411, 8443, 5044, 6831, "
        "7199, 4317",
        "port scan of {s} done, {n} open | the port range in the runbook is outdated | {s} "
        "refused the"
        " port check at {n} ms",
    ),
    _attribute(
        "version",
        "{s} runs version {v} | pinned {s} to version {v} | why is {s} on version {v} and not on "
        "the"
        " newer one?",
        "Tell me the version of {q}",
        "Find which service runs version {v}",
        "2.4.1, 3.0.7, 1.18.2, 0.9.14, 5.2.0, 4.11.3, 2.22.6, 7.1.9, 1.0.33, 6.5.4, 3.3.12, 8.0.1,"
        " 0.12.8, 2.7.19, 9.4.2, 1.6.21",
        "version bump of {s} waits for review | {n} version tags deleted in {s} | the version "
        "page of"
        " {s} times out",
    ),
    _attribute(
        "owner",
        "{s} owner is {v} | ownership of {s} goes to {v} as owner | should {v} stay the owner of "
        "{s}?",
        "Look up the owner of {q}",
        "Find the service whose owner is {v}",
        "team Cormorant, team Basalt, team Lynx, team Quartz, team Heron, team Maple, team Tundra,"
        " team Falcon, team Cobalt, team Willow, team Onyx, team Puma, team Cedar, team Raven",
        "the owner field of {s} was empty in {n} tickets | owner review on {d} | asked for an "
        "owner of"
        " the {s} dashboards",
    ),
    _attribute(
        "region",
        "{s} region {v} | primary region of {s} is {v} | did anyone object to {v} as the region of"
        " {s}?",
        "Give the region of {q}",
        "Find the service in region {v}",
        "eu-north-2, us-west-7, ap-south-4, eu-west-9, us-east-8, sa-east-3, af-south-2, "
        "ca-central-5,"
        " me-west-6, ap-east-9, eu-south-5, us-south-4",
        "region failover drill for {s} on {d} | {n} requests left the region of {s} | region map"
        " redrawn, {s} included",
    ),
    _attribute(
        "queue",
        "{s} reads queue {v} | queue of {s}: {v} | is {v} still the queue that {s} reads?",
        "Which queue belongs to {q}",
        "Find the service that reads queue {v}",
        "amber-jobs, slow-lane, fast-lane, night-batch, refunds, dead-letters-b, ingest-west,"
        " retries-two, snapshots, parcel-events, invoices-out, hot-keys, media-in, alerts-out",
        "queue depth of {s} at {n} | drained the queue behind {s} | queue alarms of {s} muted until"
        " {d}",
    ),
    _attribute(
        "timeout",
        "{s} timeout {v} | raised the timeout of {s} to {v} | would a timeout of {v} hurt {s} on a"
        " slow day?",
        "State the timeout of {q}",
        "Find the service with a timeout of {v}",
        "45 seconds, 90 seconds, 1200 ms, 350 ms, 17 seconds, 4 minutes, 800 ms, 25 seconds, 6 "
        "minutes,"
        " 2500 ms, 75 seconds, 11 seconds",
        "{n} timeout errors in {s} since {d} | the timeout graph of {s} is flat | no timeout seen "
        "in"
        " {s} overnight",
    ),
    _attribute(
        "bucket",
        "{s} bucket {v} | backups of {s} land in bucket {v} | can {v} be renamed, the bucket of "
        "{s}?",
        "Name the bucket of {q}",
        "Find the service with bucket {v}",
        "cold-otter, warm-badger, north-vault, blue-silo, archive-nine, delta-store, quiet-shelf,"
        " stone-jar, long-drawer, paper-crate, iron-chest, green-barn",
        "bucket policy of {s} reviewed | {n} GB in the bucket of {s} on {d} | listing a bucket for"
        " {s} took {n} s",
    ),
    _attribute(
        "flag",
        "{s} flag {v} on | flag {v} guards the new path of {s} | who switched on flag {v} in {s}?",
        "Which flag is on in {q}",
        "Find the service with flag {v}",
        "fast-path, lazy-load, strict-mode, dual-write, shadow-read, new-parser, soft-delete,"
        " bulk-ack, dark-launch, two-phase, eager-sync, hedged-calls",
        "{n} flag changes in {s} this week | flag cleanup of {s} planned for {d} | removed a flag"
        " nobody used from {s}",
    ),
    _attribute(
        "certificate",
        "{s} certificate expires {v} | renewed the certificate of {s}, good until {v} | is {v} too"
        " late for the certificate of {s}?",
        "When does the certificate of {q} expire",
        "Find the service whose certificate expires {v}",
        "2026-03-14, 2026-07-02, 2027-01-19, 2026-11-30, 2027-05-08, 2026-09-21, 2027-08-12,"
        " 2026-04-27, 2027-02-03, 2026-12-16, 2027-10-25, 2026-06-18",
        "certificate check of {s} green for {n} days | certificate warning about {s} on {d} | the"
        " certificate chain of {s} has {n} links",
    ),
    _attribute(
        "schedule",
        "{s} schedule {v} | the cleanup of {s} follows schedule {v} | may we move {s} away from"
        " schedule {v}?",
        "Show the schedule of {q}",
        "Find the service with schedule {v}",
        "every 7 minutes, hourly at :50, daily at 03:15, Sundays at 22:40, every 90 seconds, "
        "weekdays"
        " at 05:05, monthly on the 9th, twice a day, daily at 18:25, every 4 hours, Fridays at "
        "noon",
        "schedule of {s} slipped by {n} minutes | the schedule page lists {s} twice | schedule "
        "drift"
        " in {s} since {d}",
    ),
)

PARAPHRASES = (
    ("rolled {s} back an hour after the release", "Which deployment of {q} was reverted"),
    ("{s} fell over when the disk filled up", "State the cause of the {q} outage"),
    ("bumped the heap of {s} to six gigabytes", "How much memory does {q} get"),
    ("moved the machines of {s} from Frankfurt to Dublin", "Which country hosts {q}"),
    ("capped {s} at nine tries before it gives up", "Find the retry limit of {q}"),
    ("nobody gets woken for {s} after ten at night", "Is {q} covered by on-call"),
    ("{s} talks to its peers over plain sockets", "Is the traffic of {q} encrypted"),
    ("the {s} suite takes forty minutes on a laptop", "How long do tests of {q} run"),
    ("wiped the stale customers that {s} kept for the auditors", "Was user data deleted from {q}"),
    ("locked everyone but two admins out of the console of {s}", "Who has access rights to {q}"),
)

EVENTS = (
    ("rotated the keys of {s}", "rotate"), ("restarted {s} by hand", "restart"),
    ("doubled the replicas of {s}", "double"), ("dropped an index in {s}", "drop"),
    ("rewrote the health check of {s}", "rewrite"), ("archived the logs of {s}", "archive"),
    ("froze deployments of {s}", "freeze"), ("patched the parser in {s}", "patch"),
    ("migrated {s} to the new cluster", "migrate"), ("throttled {s} for an hour", "throttle"),
)  # fmt: skip

ADVICE = (
    ("recommendation for {s}: {v}", "What did the assistant recommend for {q}",
     "shard by tenant, cache the lookups, split the writer, batch the inserts, drop the join,"
     " precompute totals"),
    ("I estimate {v} for the rewrite of {s}", "Give the assistant's estimate for the rewrite of "
     "{q}",
     "four days, three weeks, eleven hours, two sprints, nine days, six hours"),
)  # fmt: skip

CHATTER = (
    "{k}: picked up", "{k}: blocked by {s}", "{k}: done, {n} files changed", "restarting {s}",
    "tail of {s}: {n} lines, nothing odd", "{s} healthy", "deploy of {s} took {n} s",
    "rebased on main, {n} conflicts", "waiting for review from {p}", "CI red: {s} flaky again",
    "CI green after {n} minutes", "reading the {t} docs of {s}", "grep {t}: {n} hits in {s}",
    "opened {k} for the {t} of {s}", "closed {k}, duplicate", "{s} p99 {n} ms", "{s} memory {n} MB",
    "asked {p} about the {t}", "{p} is out until {d}", "next: the {t} of {s}",
    "skip the {t} of {s} for now", "the {t} of {s} looks wrong, will check on {d}",
    "diff of {s}: {n} lines", "no change in {s} since {d}", "cannot reproduce {k}",
    "reproduced {k} on the second try", "{s} logs rotated, {n} MB freed", "step {n} of the runbook",
    "runbook of {s} has no word on the {t}", "please look at {k} before {d}",
    "summarise {k} for {p}", "compare the {t} of {s} with staging", "list open tickets of {s}",
    "{n} open tickets", "{n} warnings, all known", "exit code {n}", "retry {n} of 9",
    "writing a test for the {t} in {s}", "test passes locally", "test fails on {d} only",
    "the {t} was discussed on {d}, no decision", "is the {t} of {s} documented anywhere?",
    "who changed the {t} of {s}?", "can {k} wait until {d}?", "draft reply to {p} written",
    "updated the {t} section of the wiki", "{s} and {s2} share no {t}", "copied {n} rows to {s2}",
    "checked {s2} as well, same {t} page", "handing over to {p}", "back from the stand-up",
)  # fmt: skip
