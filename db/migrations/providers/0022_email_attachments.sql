-- compatible: a program that does not know attachments writes none, and sends mails without those that others wrote.
-- What mails carry that have not left yet, apart from the mails: lists of mails read rows, and these are large.
create table providers.email_attachments (
  id uuid primary key,
  organization_id uuid not null,
  message_id uuid not null,
  place integer not null,
  name text not null check (length(name) between 1 and 200),
  content_type text not null check (length(content_type) between 3 and 255),
  -- Sealed.
  content text not null,
  constraint an_attachment_is_of_a_mail foreign key (organization_id, message_id) references providers.email_messages (organization_id, id) on delete cascade
);
create unique index email_attachments_of_message on providers.email_attachments (message_id, place);
create index email_attachments_of_mail on providers.email_attachments (organization_id, message_id);
create index email_attachments_by_key on providers.email_attachments (split_part(content, '.', 2));

-- They go with the content of their mail: once nobody will send it, and whoever says so.
create function providers.drop_email_attachments() returns trigger language plpgsql as $$
begin
  delete from providers.email_attachments where organization_id = new.organization_id and message_id = new.id;
  return null;
end $$;
create trigger email_attachments_go_with_the_content after update of content on providers.email_messages
  for each row when (old.content is not null and new.content is null) execute function providers.drop_email_attachments();
