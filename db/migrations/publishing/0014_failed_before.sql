-- compatible: programs of before do not know the table.
-- Posts that failed before anybody was told of it. The start tells of them: it knows where the platform is found, and empties the table.
create table publishing.failed_before (brand_id uuid not null, id uuid not null, primary key (brand_id, id));
insert into publishing.failed_before (brand_id, id) select brand_id, id from publishing.posts where status = 'FAILED';
