-- compatible: a program that does not know the words searches without them.
-- Every word that an app of the catalogue has: what somebody mistypes is compared with them.
create table launcher.catalog_words (
  word text primary key check (length(word) between 1 and 200)
);
create index catalog_words_by_beginning on launcher.catalog_words (left(word, 1), length(word));
insert into launcher.catalog_words (word)
  select distinct word from launcher.catalog_entries t cross join lateral unnest(tsvector_to_array(t.search)) as word
    where t.removed_at is null and length(word) <= 200;
do $$
declare trigrams text;
begin
  select quote_ident(n.nspname) into trigrams from pg_extension e join pg_namespace n on n.oid = e.extnamespace where e.extname = 'pg_trgm';
  if trigrams is null then
    create function launcher.is_like_word(word text, typed text) returns boolean language sql immutable as 'select false';
  else
    execute format('create index catalog_words_by_letters on launcher.catalog_words using gin (word %s.gin_trgm_ops)', trigrams);
    execute format('create function launcher.is_like_word(word text, typed text) returns boolean language sql immutable parallel safe
      as ''select word operator(%s.%%) typed''', trigrams);
  end if;
end $$;
