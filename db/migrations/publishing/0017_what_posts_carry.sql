-- What a post carries beside its text, how a brand works, and what is known of an account's access.

alter table publishing.brands
  add column time_zone text not null default 'UTC' check (time_zone <> ''),
  add column approval_mode text not null default 'NONE' check (approval_mode in ('NONE', 'OPTIONAL', 'REQUIRED')),
  -- Ids of persons, beside owners and admins of the organization.
  add column approver_ids text[] not null default '{}',
  add column paused_at timestamptz(3);

alter table publishing.posts
  add column title text check (length(title) between 1 and 100),
  add column link text check (length(link) between 1 and 2000),
  add column tags text[] not null default '{}' check (cardinality(tags) <= 20),
  add column visibility text check (visibility in ('PUBLIC', 'UNLISTED', 'PRIVATE')),
  -- [{ "assetId", "altText" }], in the order in which they are shown.
  add column media jsonb not null default '[]' check (jsonb_typeof(media) = 'array'),
  add column first_comment text check (length(first_comment) >= 1),
  add column first_comment_status text check (first_comment_status in ('PENDING', 'SENT', 'FAILED', 'UNKNOWN')),
  add column first_comment_id text,
  add column first_comment_message text,
  -- Posts that were composed together, one a network.
  add column group_id uuid,
  add column campaign_id uuid,
  add column origin text not null default 'PERSON' check (origin in ('PERSON', 'API_KEY', 'SERVICE', 'IMPORT')),
  add column held boolean not null default false,
  add constraint a_first_comment_stands_somewhere check ((first_comment is null) = (first_comment_status is null)),
  add constraint a_first_comment_that_was_sent_has_an_id check (first_comment_id is null or first_comment_status = 'SENT');
create index posts_of_a_group on publishing.posts (group_id) where group_id is not null;
create index posts_of_a_campaign on publishing.posts (brand_id, campaign_id, created_at desc, id desc) where campaign_id is not null;
create index posts_by_tag on publishing.posts using gin (tags) where tags <> '{}';

alter table publishing.connections
  add column health text not null default 'HEALTHY' check (health in ('HEALTHY', 'EXPIRING', 'NEEDS_SELECTION', 'NEEDS_RECONNECT')),
  -- From when on only a person can renew the access; null where the network does not say.
  add column reconnect_before timestamptz(3),
  add column avatar_url text,
  -- [{ "kind", "externalId", "name", "selected", "isDefault", "available", "reason" }]: places within the account.
  add column targets jsonb not null default '[]' check (jsonb_typeof(targets) = 'array'),
  -- Sealed: tokens of single places, { "<kind>:<externalId>": token }.
  add column place_tokens text,
  -- { "limit", "remaining", "resetsAt" }, as the network last told it.
  add column rate_limit jsonb,
  add column last_checked_at timestamptz(3);
alter table publishing.connections
  drop constraint an_inactive_connection_has_no_token,
  add constraint an_inactive_connection_has_no_token
    check (active or (access_token is null and refresh_token is null and token_expires_at is null and renewal_id is null and place_tokens is null));
update publishing.connections set health = 'NEEDS_RECONNECT' where not active;

alter table publishing.attempts
  -- What preparing left: a container, an upload, as the network's adapter wrote it.
  add column handle jsonb,
  add column target jsonb,
  -- What was sent beside the text: { "title", "link", "visibility", "mediaIds" }.
  add column content jsonb not null default '{"title": null, "link": null, "visibility": null, "mediaIds": []}';
