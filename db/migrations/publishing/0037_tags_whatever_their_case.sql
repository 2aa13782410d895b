-- compatible: programs of before ask for tags as they are written, and read all of a brand for it.
-- Tags that differ by the case of their letters are one tag to whoever looks for them.
create function publishing.folded(tags text[]) returns text[] language sql immutable parallel safe as $$
  select coalesce(array_agg(lower(tag)), '{}') from unnest(tags) tag
$$;

-- Where btree_gin could not be installed there are no such indexes, and lists are right and slow.
do $$
declare
  keys text;
begin
  select quote_ident(n.nspname) into keys from pg_extension e join pg_namespace n on n.oid = e.extnamespace where e.extname = 'btree_gin';
  if keys is null then return; end if;
  drop index if exists publishing.post_search_by_tags, publishing.media_assets_by_tags;
  execute format('create index post_search_by_tags on publishing.post_search using gin (brand_id %s.uuid_ops, publishing.folded(tags)) where tags <> ''{}''', keys);
  execute format('create index media_assets_by_tags on publishing.media_assets using gin (brand_id %s.uuid_ops, publishing.folded(tags)) where tags <> ''{}''', keys);
end $$;
