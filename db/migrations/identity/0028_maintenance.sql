-- compatible: a program that does not know maintenance neither sets it nor shows it.
-- Until when a service is under maintenance, and what people are told of it. Over by itself when the time has come.
alter table identity.service_entries
  add column maintenance_until timestamptz(3),
  add column maintenance_message text check (length(maintenance_message) between 1 and 500),
  add constraint a_message_is_of_maintenance check (maintenance_message is null or maintenance_until is not null);
