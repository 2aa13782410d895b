-- compatible: programs of before list organizations as they did.
create index organizations_by_name on identity.organizations (name, id);
