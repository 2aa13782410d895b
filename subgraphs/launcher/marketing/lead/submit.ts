import { readIdempotency } from '../../../../platform/idempotency.ts'
import { newId } from '../../../../platform/ids.ts'
import type { NewRow } from '../../../../platform/sql/table.ts'
import { findMade, type WriteTransaction, type Writing, writing } from '../../../store/books.ts'
import { findEarlier, write } from '../../../store/write.ts'
import type { Mail } from '../../engines/mail/mail.ts'
import type { Visitors } from '../../engines/visitors/visitors.ts'
import type { LeadRow, Leads, leads as leadTable } from '../../stores/lead.ts'
import { leadMail, visitorsTenant } from './rules.ts'

/** What leads are written with. */
export interface LeadWriting extends Writing {
  readonly leads: Leads
  readonly mail: Mail
  readonly visitors: Visitors
  readonly marketing: {
    /** Origin of the marketing site, or its path below the platform's, without a trailing slash. */
    readonly url: string
    /** Who is mailed about leads; null: nobody. */
    readonly leadsMailTo: string | null
  }
}

/** What every call of a visitor brings beside what it says. */
export interface Visit {
  readonly solution?: string | null | undefined
  readonly idempotencyKey?: string | null | undefined
}

/** A lead to write, without id and times. */
export type NewLead = Omit<NewRow<typeof leadTable>, 'id' | 'createdAt' | 'updatedAt' | 'createdBy' | 'version'>

interface Submission {
  readonly input: Visit
  /** Reads the input, before a solution is used up. @throws BAD_USER_INPUT */
  read(): NewLead
  /** Finds a lead that stands for this one, and locks out others like it; null: there is none. */
  standing?(lead: NewLead, unit: WriteTransaction): Promise<LeadRow | null>
  /** Checks what depends on other leads, under a lock, before a new one is written. */
  check?(lead: NewLead, unit: WriteTransaction): Promise<void>
  /** Adds to a new lead, and queues mails about it. */
  also?(row: LeadRow, unit: WriteTransaction): Promise<void>
}

/**
 * Takes a lead of a visitor: counts the call, checks the challenge, writes the lead once, and mails those who look after
 * leads.
 * @returns the lead; of a repeated key the first one
 */
export async function submit(context: LeadWriting, { input, read, standing, check, also }: Submission): Promise<LeadRow> {
  const { leads, visitors } = context
  await visitors.count()
  const lead = read()
  const earlier = await findEarlier(context, { of: leads, once: input, tenantId: visitorsTenant })
  if (earlier) return earlier
  await visitors.requireSolution(input.solution)
  return write(context, {
    async run(unit) {
      const present = (await standing?.(lead, unit)) ?? null
      const id = present?.id ?? newId(unit.now)
      const idempotency = readIdempotency(input)
      const repeated = idempotency && (await findMade(context[writing], leads, { tenantId: visitorsTenant, id, ...idempotency }, unit))
      if (repeated) return repeated
      await visitors.countMail(lead.kind, lead.email, unit)
      if (present) return present
      await check?.(lead, unit)
      const stamps = { createdAt: unit.now, updatedAt: unit.now, createdBy: context[writing].actor }
      const row = await leads.insert({ id, ...lead, ...stamps }, unit.transaction)
      if (row.status !== 'SPAM') await announce(context, row, unit)
      await also?.(row, unit)
      return row
    },
  })
}

async function announce({ mail, marketing: { url, leadsMailTo } }: LeadWriting, row: LeadRow, unit: WriteTransaction): Promise<void> {
  if (leadsMailTo === null) return
  await mail.queue({ key: `lead:${row.id}`, kind: 'lead', organizationId: null, to: leadsMailTo, ...leadMail(row, `${url}/admin`) }, unit)
}
