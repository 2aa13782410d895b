import type { Sequelize } from 'sequelize'
import { lockingStatement, rows } from '../../../../platform/sql/statement.ts'
import type { WriteTransaction } from '../../../store/books.ts'
import type { NewFact } from '../../../store/fact-kinds.ts'
import type { CallRow } from '../call.ts'

// Models whose providers report more usage than possible, by the calling organization.

/** Time in ms without such a report after which a model's item is closed. */
const restMs = 24 * 3_600_000
/** Maximum number of items that are closed at once. */
const mostClosed = 500

const note = lockingStatement(
  `insert into providers.doubted_models as d (organization_id, model, last_at) values ($1, $2, $3)
   on conflict (organization_id, model) do update set last_at = greatest(d.last_at, excluded.last_at) returning d.xmax = 0 as "isNew"`,
)
const forget = lockingStatement(
  `delete from providers.doubted_models d
    using (select organization_id, model from providers.doubted_models where last_at < $1 order by last_at limit $2 for update skip locked) o
    where d.organization_id = o.organization_id and d.model = o.model returning d.organization_id as "organizationId", d.model`,
)

interface Doubted {
  readonly organizationId: string
  readonly model: string
}

const keyOf = ({ organizationId, model }: Doubted): string => `usage:${organizationId}:${model}`.slice(0, 200)

export const doubts = {
  /** Records calls with too high reported usage. @returns facts for managers: one for each model, until it is closed */
  async open(
    sequelize: Sequelize,
    calls: readonly Pick<CallRow, 'organizationId' | 'id' | 'model'>[],
    publicUrl: string,
    { transaction, now }: WriteTransaction,
  ): Promise<readonly NewFact[]> {
    const facts: NewFact[] = []
    // Sorted, so that transactions that record the same models wait instead of deadlocking.
    const named = calls.flatMap(call => (call.model === null ? [] : [{ ...call, model: call.model }])).sort((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1))
    for (const call of named) {
      const { organizationId, model } = call
      const [written] = await rows<{ isNew: boolean }>(sequelize, note, [organizationId, model, now], transaction)
      if (!written?.isNew) continue
      const body = {
        ...{ key: keyOf(call), kind: 'USAGE_DOUBTFUL', organizationId, subjectId: call.id, severity: 'HIGH' as const, audience: 'managers' as const },
        title: `${model} reports more usage than its calls can have had`.slice(0, 300),
        url: `${publicUrl}/providers/api/calls/${call.id}`,
        at: now.toISOString(),
        body: 'What such a call is booked at is its bound. Compare the bill of the provider with the log of calls.',
      }
      facts.push({ kind: 'attention.opened', body })
    }
    return facts
  },

  /** Removes models without such a report for a day. @returns facts for managers */
  async close(sequelize: Sequelize, { transaction, now }: WriteTransaction): Promise<readonly NewFact[]> {
    const found = await rows<Doubted>(sequelize, forget, [new Date(now.getTime() - restMs), mostClosed], transaction)
    return found.map(each => ({ kind: 'attention.closed', body: { key: keyOf(each) } }))
  },
}
