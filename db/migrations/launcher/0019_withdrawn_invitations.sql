-- compatible: a program that does not know withdrawn invitations shows pending ones alone, and answers no other.
alter table launcher.household_invitations drop constraint household_invitations_status_check;
alter table launcher.household_invitations
  add constraint household_invitations_status_check check (status in ('PENDING', 'ACCEPTED', 'DECLINED', 'WITHDRAWN'));
