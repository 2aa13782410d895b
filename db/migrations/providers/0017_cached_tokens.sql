-- compatible: a program of before neither reads nor writes these columns, and books cached tokens at the full price.
-- What a million tokens cost that a vendor had kept from before, and that it keeps for later; null: as those that it reads.
alter table providers.models
  add column cache_read_micros_per_million bigint check (cache_read_micros_per_million >= 0),
  add column cache_write_micros_per_million bigint check (cache_write_micros_per_million >= 0);
update providers.models m set cache_read_micros_per_million = p.read, cache_write_micros_per_million = p.write
  from (values ('openai/gpt-5-mini', 25000::bigint, null::bigint), ('anthropic/claude-haiku-4-5', 100000, 1250000)) as p (name, read, write)
 where m.name = p.name;
-- Of the tokens that were read: those that the vendor had kept from before, and those that it keeps for later.
alter table providers.calls
  add column cached_tokens integer,
  add column cache_write_tokens integer;
