-- compatible: a program that does not know the library never asks for it, and removes nothing of it.
-- Pictures and films of brands: what is known of them. Their bytes are kept beside the database, under keys.

create table publishing.media_folders (
  brand_id uuid not null references publishing.brands (id),
  id uuid not null,
  name text not null check (length(name) between 1 and 100),
  parent_id uuid,
  version integer not null default 1,
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  created_by text not null,
  primary key (brand_id, id),
  constraint a_folder_lies_in_a_folder foreign key (brand_id, parent_id) references publishing.media_folders (brand_id, id),
  constraint no_folder_lies_in_itself check (parent_id <> id)
);
create index media_folders_by_id on publishing.media_folders (id);
create index media_folders_by_parent on publishing.media_folders (brand_id, parent_id);

create table publishing.media_assets (
  brand_id uuid not null references publishing.brands (id),
  id uuid not null,
  kind text not null check (kind in ('IMAGE', 'GIF', 'VIDEO')),
  filename text not null check (length(filename) between 1 and 255),
  mime_type text not null check (mime_type in ('image/jpeg', 'image/png', 'image/webp', 'image/gif', 'video/mp4', 'video/quicktime')),
  bytes integer not null check (bytes > 0),
  width integer check (width > 0),
  height integer check (height > 0),
  duration_ms integer check (duration_ms >= 0),
  sha256 text check (sha256 ~ '^[0-9a-f]{64}$'),
  alt_text text check (length(alt_text) between 1 and 2000),
  title text check (length(title) between 1 and 100),
  tags text[] not null default '{}' check (cardinality(tags) <= 20),
  folder_id uuid,
  source text not null check (source in ('UPLOAD', 'GENERATED', 'IMPORT')),
  status text not null check (status in ('PROCESSING', 'READY', 'FAILED')),
  -- Whether there is a preview; one that is not there, or is none any more, is broken.
  preview_broken boolean not null default false,
  -- Where a film says where it was made: [[first, last]], bytes of it that no network is sent.
  hidden jsonb not null default '[]' check (jsonb_typeof(hidden) = 'array'),
  -- The parts that a film came in, until it is one object: [{ "key", "bytes" }].
  parts jsonb not null default '[]' check (jsonb_typeof(parts) = 'array'),
  author_id uuid,
  version integer not null default 1,
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  created_by text not null,
  primary key (brand_id, id),
  constraint an_asset_lies_in_a_folder foreign key (brand_id, folder_id) references publishing.media_folders (brand_id, id),
  constraint what_is_ready_was_read check (status <> 'READY' or sha256 is not null)
);
create index media_assets_by_id on publishing.media_assets (id);
create index media_assets_by_age on publishing.media_assets (brand_id, created_at, id);
create index media_assets_of_a_folder on publishing.media_assets (brand_id, folder_id, created_at, id) where folder_id is not null;
create index media_assets_of_a_kind on publishing.media_assets (brand_id, kind, created_at, id);
create index media_assets_by_tag on publishing.media_assets using gin (tags) where tags <> '{}';
create index media_assets_under_way on publishing.media_assets (updated_at) where status = 'PROCESSING';

-- The forms of pictures that networks take, as far as they were made.
create table publishing.media_variants (
  brand_id uuid not null references publishing.brands (id),
  asset_id uuid not null,
  platform text not null check (platform in ('X', 'LINKEDIN', 'LINKEDIN_PAGE', 'FACEBOOK', 'INSTAGRAM', 'THREADS', 'YOUTUBE', 'TIKTOK')),
  mime_type text not null,
  width integer,
  height integer,
  bytes integer not null check (bytes > 0),
  created_at timestamptz(3) not null,
  primary key (brand_id, asset_id, platform),
  constraint a_variant_is_of_an_asset foreign key (brand_id, asset_id) references publishing.media_assets (brand_id, id) on delete cascade
);
create index media_variants_by_asset on publishing.media_variants (asset_id);

-- Objects that are to go: those that nobody names any more, and those that were written for something that may not come about.
create table publishing.media_objects (
  key text primary key check (length(key) between 1 and 400),
  brand_id uuid not null references publishing.brands (id),
  remove_at timestamptz(3) not null
);
create index media_objects_by_time on publishing.media_objects (remove_at);
create index media_objects_by_brand on publishing.media_objects (brand_id);

-- Uploads in parts that are under way.
create table publishing.media_uploads (
  brand_id uuid not null references publishing.brands (id),
  id uuid not null,
  filename text not null check (length(filename) between 1 and 255),
  alt_text text check (length(alt_text) between 1 and 2000),
  folder_id uuid,
  bytes integer not null check (bytes > 0),
  received integer not null default 0,
  -- Its beginning in base64, until that tells what it is.
  head text not null default '',
  mime_type text,
  parts jsonb not null default '[]' check (jsonb_typeof(parts) = 'array'),
  -- What it became; null as long as it is not whole.
  asset_id uuid,
  expires_at timestamptz(3) not null,
  author_id uuid,
  version integer not null default 1,
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  created_by text not null,
  primary key (brand_id, id),
  constraint no_more_comes_than_was_said check (received between 0 and bytes)
);
create index media_uploads_by_id on publishing.media_uploads (id);
create index media_uploads_by_end on publishing.media_uploads (expires_at);

-- Posts by what they carry.
create index posts_by_media on publishing.posts using gin (media jsonb_path_ops) where media <> '[]';
