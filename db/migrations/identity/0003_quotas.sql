-- What is counted before one more is made: organizations by their maker, keys that nobody has revoked.
create index organizations_by_maker on identity.organizations (created_by, created_at);
create index api_keys_standing on identity.api_keys (organization_id) where revoked_at is null;
