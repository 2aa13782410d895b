import { randomBytes } from 'node:crypto'
import { hashOfSecret } from '../../../../platform/cipher.ts'
import type { Clock } from '../../../../platform/clock.ts'
import { write } from '../../../store/write.ts'
import type { LeadRow } from '../../stores/lead.ts'
import { type LeadWriting, submit, type Visit } from '../lead/submit.ts'
import { bookedMail, bookingOf, cancelledMail, codeRefused, type GivenBooking, goneMail, readBooking, slotTaken, zoneOf } from './rules.ts'
import { slotMs, slotsWithin } from './slots.ts'

/** What demos are booked with. */
export interface DemoWriting extends LeadWriting {
  readonly clock: Clock
  readonly marketing: LeadWriting['marketing'] & {
    /** Time zone of the office hours. */
    readonly demoTimeZone: string
  }
}

/** Books a demo for a visitor, and mails the link that cancels it. */
export async function bookDemo(context: DemoWriting, input: GivenBooking & Visit) {
  const { clock, leads, mail, marketing } = context
  const { url, demoTimeZone } = marketing
  // 43 characters: mailed, and stored as a hash.
  const code = randomBytes(32).toString('base64url')
  const zone = zoneOf(input.timeZone, demoTimeZone)
  const row = await submit(context, {
    input,
    read: () => ({ ...readBooking(input, demoTimeZone, clock.now()), codeHash: hashOfSecret(code) }),
    async check({ startsAt }, { transaction }) {
      if (await leads.lockSlot(startsAt!, transaction)) throw slotTaken()
    },
    async also(row, unit) {
      const content = bookedMail(row, `${url}/demo/cancel?code=${code}`, zone)
      await mail.queue({ key: `demo-booked:${row.id}`, kind: 'demo-booked', organizationId: null, to: row.email, ...content }, unit)
    },
  })
  return bookingOf(row)
}

/** Cancels the demo of a code, mails its visitor and those who look after leads. */
export async function cancelDemo(context: DemoWriting, code: string) {
  const { visitors, leads, mail, marketing } = context
  const { url, demoTimeZone, leadsMailTo } = marketing
  await visitors.count()
  const row = await write<LeadRow>(context, {
    async run(unit) {
      const { transaction, now } = unit
      const lead = await leads.lockByCode(hashOfSecret(code), transaction)
      if (!lead?.isBooked || lead.startsAt! <= now) throw codeRefused()
      const changes = { isBooked: false, codeHash: null, status: 'DONE', version: lead.version + 1, updatedAt: now } as const
      const mailed = { kind: 'demo-cancelled', organizationId: null } as const
      await mail.queue({ key: `demo-cancelled:${lead.id}`, ...mailed, to: lead.email, ...cancelledMail(lead, `${url}/demo`, demoTimeZone) }, unit)
      if (leadsMailTo !== null) await mail.queue({ key: `demo-gone:${lead.id}`, ...mailed, to: leadsMailTo, ...goneMail(lead, `${url}/admin`) }, unit)
      return leads.update(lead, changes, transaction)
    },
  })
  return bookingOf(row)
}

/** Slots within a period that nobody has booked. */
export async function freeSlots({ leads, clock, marketing: { demoTimeZone } }: DemoWriting, period: { readonly from: Date; readonly to: Date }) {
  const slots = slotsWithin(demoTimeZone, period, clock.now())
  const [first, last] = [slots[0], slots.at(-1)]
  if (!first || !last) return []
  const taken = await leads.bookedWithin(first, new Date(last.getTime() + 1))
  return slots.filter(at => !taken.has(at.getTime())).map(at => ({ startsAt: at, endsAt: new Date(at.getTime() + slotMs) }))
}
