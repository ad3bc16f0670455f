"""JSON schemas of profiles, by name: `blocks: {sam: {profile: person}}`."""
