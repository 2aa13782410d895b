-- compatible: a program that does not know knowledge never asks for it.
create table agents.knowledge_sources (
  id uuid primary key,
  organization_id uuid not null,
  title text not null check (length(title) between 1 and 200),
  kind text not null check (kind in ('TEXT', 'URL', 'UPLOAD')),
  url text,
  visibility text not null check (visibility in ('ORGANIZATION', 'PUBLIC')),
  language text,
  status text not null default 'PENDING' check (status in ('PENDING', 'INDEXING', 'READY', 'FAILED')),
  failure jsonb,
  actions jsonb not null default '[]',
  -- When it is indexed or read next; while a process has it, until when.
  index_at timestamptz(3),
  attempts integer not null default 0,
  indexed_at timestamptz(3),
  checked_at timestamptz(3),
  version integer not null default 1,
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  created_by text not null,
  constraint a_failed_source_says_why check (status <> 'FAILED' or failure is not null)
);
create index knowledge_sources_by_age on agents.knowledge_sources (organization_id, created_at, id);
create index knowledge_sources_by_visibility on agents.knowledge_sources (organization_id, visibility, created_at, id);
create index knowledge_sources_by_status on agents.knowledge_sources (organization_id, status, created_at, id);
create index knowledge_sources_to_index on agents.knowledge_sources (index_at) where index_at is not null;
create index knowledge_sources_of_writer on agents.knowledge_sources (created_by, created_at);

-- Texts that were given and are not indexed yet.
create table agents.knowledge_texts (
  source_id uuid primary key,
  text text not null
);

create table agents.documents (
  id uuid primary key,
  organization_id uuid not null,
  source_id uuid not null,
  title text not null,
  url text,
  content_hash text not null check (content_hash ~ '^sha256:[0-9a-f]{64}$'),
  search_config text not null,
  chunks integer not null,
  indexed_at timestamptz(3) not null,
  version integer not null default 1,
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  created_by text not null
);
create index documents_of_source on agents.documents (source_id, created_at, id);

create table agents.document_texts (
  document_id uuid primary key,
  text text not null
);

-- Passages of documents, as they are searched. They may lie in a database of their own, so nothing refers to them.
create table agents.knowledge_chunks (
  document_id uuid not null,
  number integer not null,
  organization_id uuid not null,
  source_id uuid not null,
  visibility text not null,
  version integer not null,
  "start" integer not null,
  "end" integer not null,
  text text not null,
  search_config text not null,
  search tsvector not null,
  primary key (document_id, number)
);
create index knowledge_chunks_of_source on agents.knowledge_chunks (source_id);
create index knowledge_chunks_by_config on agents.knowledge_chunks (organization_id, search_config);

-- Words and similar words within one organization: both extensions come with PostgreSQL. Where they may not be made, similar words are not found.
do $$
declare
  trigrams text;
  keys text;
begin
  create extension if not exists pg_trgm with schema agents;
  create extension if not exists btree_gin with schema agents;
  select quote_ident(n.nspname) into trigrams from pg_extension e join pg_namespace n on n.oid = e.extnamespace where e.extname = 'pg_trgm';
  select quote_ident(n.nspname) into keys from pg_extension e join pg_namespace n on n.oid = e.extnamespace where e.extname = 'btree_gin';
  execute format('create index knowledge_chunks_by_words on agents.knowledge_chunks using gin (organization_id %s.uuid_ops, search)', keys);
  execute format('create index knowledge_chunks_by_parts on agents.knowledge_chunks using gin (organization_id %s.uuid_ops, text %s.gin_trgm_ops)', keys, trigrams);
  execute format('create function agents.word_likeness(word text, passage text) returns real language sql immutable parallel safe
    as ''select %s.word_similarity(word, passage)''', trigrams);
  execute format('create function agents.has_like_word(word text, passage text) returns boolean language sql immutable parallel safe
    as ''select word operator(%s.<%%) passage''', trigrams);
exception when insufficient_privilege or undefined_file or feature_not_supported then
  raise warning 'pg_trgm or btree_gin cannot be installed: searches of knowledge find no similar words';
  create index knowledge_chunks_by_words on agents.knowledge_chunks using gin (search);
  create function agents.word_likeness(word text, passage text) returns real language sql immutable as 'select 0::real';
  create function agents.has_like_word(word text, passage text) returns boolean language sql immutable as 'select false';
end $$;
