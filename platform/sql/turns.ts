/** A table of things that leave when they are due. */
export interface Turns {
  /** Name with schema. */
  readonly table: string
  /** SQL of the party that a row `t` counts for. */
  readonly party: string
  /** Column of the moment at which a row is due. */
  readonly due: string
  /** Further condition on rows `t`. @default all */
  readonly only?: string
}

/**
 * Returns a subquery of the ids of rows that are due, in turns: the first of each party before the second of any, so
 * that nobody's backlog holds up others. It reads as many rows as there are parties and answers, along an index on
 * party and due.
 * @param now     parameter of the present moment: `$1`
 * @param perParty parameter, or number, of rows of one party
 * @param limit   parameter of rows of all parties
 */
export const dueInTurns = ({ table, party, due, only = 'true' }: Turns, now: string, perParty: string | number, limit: string): string =>
  `with recursive parties as (
     (select ${party} as party from ${table} t where ${only} order by ${party} limit 1)
     union all
     select (select ${party} from ${table} t where ${only} and ${party} > p.party order by ${party} limit 1) from parties p where p.party is not null
   )
   select d.id from parties p cross join lateral (
     select t.id, t.${due} as due, row_number() over (order by t.${due}, t.id) as turn from ${table} t
      where ${only} and ${party} = p.party and t.${due} <= ${now} order by t.${due}, t.id limit ${perParty}
   ) d order by d.turn, d.due limit ${limit}`
