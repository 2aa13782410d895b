-- compatible: programs of before neither read nor write what is added; what they rotate they do not know of.
-- The secret before the present one, sealed: tried until its grace ends where the present one is refused.
alter table providers.credentials
  add column previous_secret text,
  add constraint a_grace_is_of_a_secret check (previous_secret is null or grace_ends_at is not null);
create index credentials_by_grace on providers.credentials (grace_ends_at) where previous_secret is not null;
-- With which encryption keys those were sealed.
create index credentials_by_previous_key on providers.credentials (split_part(previous_secret, '.', 2)) where previous_secret is not null;
