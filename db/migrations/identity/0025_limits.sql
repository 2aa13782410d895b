-- compatible: programs of before count by themselves, and know nothing of this table.
-- Counts that hold for all processes together: failed sign-ins, calls without credentials, addresses that a person names. Keys are hashes
-- of what is counted. What is lost in a crash of the database begins anew.
create unlogged table identity.limits (
  key     text primary key,
  count   integer not null,
  -- When the window began; of an account at one address, the last failure.
  since   timestamptz(3) not null,
  -- From then on the row says nothing any more.
  ends_at timestamptz(3) not null
);
create index limits_by_end on identity.limits (ends_at);
