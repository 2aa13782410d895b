import { describe, expect, it } from 'vitest'
import { factsOfSql, nameOfSql } from '../../platform/sql/span.ts'

describe('the span of a statement', () => {
  it.each([
    ['select * from publishing.posts t where t.id = $1', 'SELECT posts'],
    ['insert into launcher.pins as p (id) values ($1) on conflict (id) do update set id = $1', 'INSERT pins'],
    ['update publishing.posts t set copy = $2 where t.id = $1', 'UPDATE posts'],
    ['delete from identity.codes where id = $1', 'DELETE codes'],
    ['with gone as (delete from identity.codes where id = $1 returning id) insert into identity.mails select from gone', 'INSERT mails'],
    ['with a as (select id from agents.profiles) select id from a', 'SELECT profiles'],
    ['select (select count(*) from publishing.posts), extract(epoch from b.at) from publishing.brands b', 'SELECT brands'],
    ['/* of whom */ select id from only identity.users -- from publishing.posts', 'SELECT users'],
    ['select pg_advisory_xact_lock($1)', 'SELECT'],
    ['notify events', 'NOTIFY'],
  ])('is named by operation and table when the statement is %s', (text, name) => {
    expect(nameOfSql(text)).toBe(name)
  })

  it('notes operation, table, subgraph and the text when a table is read', () => {
    const text = 'select id from identity.users where id = $1'
    expect(factsOfSql(text)).toEqual({
      'db.system.name': 'postgresql',
      'db.operation.name': 'SELECT',
      'db.collection.name': 'users',
      subgraph: 'identity',
      'db.query.text': text,
    })
  })
})
