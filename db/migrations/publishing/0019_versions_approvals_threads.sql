-- compatible: programs of before keep no versions, write no steps of approval and find posts by what they know.
-- What a post said before, what those who approve have done, and what threads are called.

-- States of posts' content, as they became so: the last fifty of each.
create table publishing.post_versions (
  brand_id uuid not null,
  post_id uuid not null,
  -- The version of the post with which it became so.
  version integer not null check (version >= 1),
  content jsonb not null check (jsonb_typeof(content) = 'object'),
  created_at timestamptz(3) not null,
  created_by text not null,
  primary key (brand_id, post_id, version),
  constraint a_version_belongs_to_a_post foreign key (brand_id, post_id) references publishing.posts (brand_id, id) on delete cascade
);

create table publishing.approval_events (
  brand_id uuid not null,
  post_id uuid not null,
  id uuid not null,
  at timestamptz(3) not null,
  action text not null check (action in ('SUBMIT', 'APPROVE', 'REQUEST_CHANGES', 'REJECT', 'HOLD', 'RELEASE', 'RESET')),
  comment text check (length(comment) between 1 and 2000),
  created_by text not null,
  primary key (brand_id, post_id, id),
  constraint an_event_belongs_to_a_post foreign key (brand_id, post_id) references publishing.posts (brand_id, id) on delete cascade
);

-- Threads that are more than one post, or have a title.
create table publishing.post_threads (
  brand_id uuid not null,
  id uuid not null,
  title text check (length(title) between 1 and 100),
  version integer not null default 1 check (version >= 1),
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  created_by text not null,
  primary key (brand_id, id),
  constraint a_thread_belongs_to_a_brand foreign key (brand_id) references publishing.brands (id)
);
create index post_threads_by_id on publishing.post_threads (id);
create index post_threads_by_age on publishing.post_threads (brand_id, created_at desc, id desc);
insert into publishing.post_threads (brand_id, id, created_at, updated_at, created_by)
  select brand_id, thread_id, min(created_at), min(created_at), (array_agg(created_by order by position))[1]
    from publishing.posts group by brand_id, thread_id having count(*) > 1;

create index posts_by_approval on publishing.posts (brand_id, approval, created_at desc, id desc) where approval <> 'NONE';
create index posts_by_phase on publishing.posts (brand_id, delivery_phase, created_at desc, id desc) where delivery_phase <> 'NONE';
-- Whether the same words are set or published a second time.
create index posts_by_words on publishing.posts (brand_id, platform, md5(lower(btrim(regexp_replace(copy, '\s+', ' ', 'g')))))
  where status in ('SCHEDULED', 'PUBLISHED');

-- What became of each row of an imported file, as long as the same key answers it again.
create table publishing.post_imports (
  brand_id uuid not null,
  id uuid not null,
  created integer not null check (created >= 0),
  report jsonb not null check (jsonb_typeof(report) = 'array'),
  version integer not null default 1 check (version >= 1),
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  created_by text not null,
  primary key (brand_id, id),
  constraint an_import_belongs_to_a_brand foreign key (brand_id) references publishing.brands (id)
);
create index post_imports_by_id on publishing.post_imports (id);
create index post_imports_by_age on publishing.post_imports (created_at);
