-- compatible: a program of before looks for no such limit, and leaves the columns as they begin.
-- What of a call was paid with credentials of the platform; null: nobody has said.
alter table providers.calls add column platform_micros bigint check (platform_micros >= 0);
-- What an organization may spend with credentials of the platform: its id is the scope's value, and its managers are told.
alter table providers.spend_limits
  drop constraint spend_limits_scope_type_check,
  add constraint spend_limits_scope_type_check
    check (scope_type in ('PLATFORM', 'ORGANIZATION', 'APP', 'USER', 'PROVIDER_FAMILY', 'MODEL', 'PLATFORM_CREDENTIALS')),
  -- Made by the setting, which it follows; false: by somebody.
  add column is_default boolean not null default false;
create index spend_limits_by_default on providers.spend_limits (hard_limit_micros) where is_default;
