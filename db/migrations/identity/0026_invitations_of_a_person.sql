-- compatible: an index alone.
-- How many invitations one person made within a day, in whatever organization.
create index invitations_by_maker on identity.invitations (created_by, created_at);
