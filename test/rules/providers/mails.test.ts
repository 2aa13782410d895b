import { describe, expect, test } from 'vitest'
import { conclude, hear, nextTry, type Report, retryAfterMs, statusOf, transitions, waiting } from '../../../subgraphs/providers/email/message/rules.ts'
import type { EmailMessageRow, EmailStatus, Recipient, RecipientOutcome } from '../../../subgraphs/providers/stores/email/message.ts'

const now = new Date('2026-02-14T15:45:10Z')
const later = (ms: number) => new Date(now.getTime() + ms)
const to = (address: string, outcome: RecipientOutcome | null = null): Recipient => ({ address, as: 'to', outcome, answer: null })
const mail = (more: Partial<EmailMessageRow> = {}): EmailMessageRow => ({
  ...{ organizationId: 'o', id: 'm', identityId: 'i', domainId: 'd', appId: 'app_a', fromName: null, fromAddress: 'a@b.test', subject: 'Hi' },
  ...{ recipients: [to('ada@x.test'), to('bob@x.test')], content: 'sealed', status: 'SENDING', messageId: '<m@b.test>', attempts: 1 },
  ...{ failureCode: null, failureMessage: null, dueAt: later(45_000), claim: 'c', sentAt: null, createdAt: now, updatedAt: now, createdBy: 'test', version: 1 },
  ...more,
})
const settled = (...said: [string, RecipientOutcome][]) => ({ settled: new Map(said.map(([address, outcome]) => [address, { outcome, answer: null }])) })
const outcomesOf = (changes: Partial<EmailMessageRow> | null) => changes?.recipients?.map(({ outcome }) => outcome)

describe('a mail stands', () => {
  test.for([
    [['SENT', null], null],
    [['SENT', 'SENT'], 'SENT'],
    [['SENT', 'REFUSED'], 'SENT'],
    [['SENT', 'SUPPRESSED'], 'SENT'],
    [['SENT', 'DELIVERED'], 'DELIVERED'],
    [['DELIVERED', 'UNKNOWN'], 'UNKNOWN'],
    [['UNKNOWN', 'BOUNCED'], 'BOUNCED'],
    [['BOUNCED', 'COMPLAINED'], 'COMPLAINED'],
    [['REFUSED', 'FAILED'], 'BOUNCED'],
    [['FAILED', 'SUPPRESSED'], 'FAILED'],
    [['SUPPRESSED'], 'SUPPRESSED'],
  ] as const)('where it does for %s: %s', ([outcomes, status]) => {
    const recipients = outcomes.map((outcome, at) => to(`${at}@x.test`, outcome))
    expect(statusOf(recipients)).toBe(status)
    expect(waiting(recipients)).toHaveLength(outcomes.filter(outcome => outcome === null).length)
  })

  test('follows its state machine, for any results of attempts', () => {
    const shown = [
      settled(['ada@x.test', 'SENT'], ['bob@x.test', 'REFUSED']),
      settled(['ada@x.test', 'REFUSED'], ['bob@x.test', 'REFUSED']),
      settled(['ada@x.test', 'SENT']),
      settled(),
      { putOff: 'busy' },
      { putOff: 'busy', counted: false },
      { givenUp: { code: 'SENDER_WITHDRAWN', message: 'gone' } as const },
      { lost: 'silence' },
    ]
    for (const status of ['QUEUED', 'SENDING'] as const)
      for (const attempts of [1, 6])
        for (const result of shown) {
          // A mail that was not begun was not handed over.
          if (
            status === 'QUEUED' &&
            ('lost' in result || ('settled' in result && result.settled.size > 0 && outcomesOf(conclude(mail(), result, now))?.includes('SENT')))
          )
            continue
          expect(Object.values(transitions[status])).toContain(conclude(mail({ status, attempts }), result, now).status)
        }
  })
})

describe('an attempt for a mail', () => {
  test('that was deferred is repeated after 5 s, 30 s, 5 min, 30 min and 2 h; after the sixth the mail has failed', () => {
    expect(retryAfterMs).toEqual([5_000, 30_000, 300_000, 1_800_000, 7_200_000])
    for (const [at, ms] of retryAfterMs.entries()) {
      expect(nextTry(at + 1, now)).toEqual(later(ms))
      expect(conclude(mail({ attempts: at + 1 }), { putOff: '451' }, now)).toMatchObject({
        ...{ status: 'QUEUED', attempts: at + 1, dueAt: later(ms), claim: null, failureCode: 'PUT_OFF', failureMessage: '451' },
      })
    }
    const last = conclude(mail({ attempts: 6 }), { putOff: '451' }, now)
    expect(last).toMatchObject({ status: 'FAILED', attempts: 6, dueAt: null, claim: null, content: null, failureCode: 'GAVE_UP' })
    expect(outcomesOf(last)).toEqual(['FAILED', 'FAILED'])
  })

  test('is counted once: when it began, or when it was deferred before; and not if none was made', () => {
    expect(conclude(mail({ status: 'QUEUED', attempts: 1 }), { putOff: 'no server' }, now)).toMatchObject({ attempts: 2, dueAt: later(30_000) })
    expect(conclude(mail({ attempts: 1 }), { putOff: 'left', counted: false }, now)).toMatchObject({ attempts: 0, dueAt: now, status: 'QUEUED' })
    expect(conclude(mail({ attempts: 6 }), { putOff: 'left', counted: false, at: later(9) }, now)).toMatchObject({ attempts: 5, dueAt: later(9) })
    expect(conclude(mail({ attempts: 1, failureCode: 'PUT_OFF' }), { putOff: 'left', counted: false }, now)).not.toHaveProperty('failureCode')
  })

  test('with unknown outcome is never repeated for the affected recipients', () => {
    const row = mail({ recipients: [to('ada@x.test', 'SENT'), to('bob@x.test')] })
    const changes = conclude(row, { lost: 'silence' }, now)
    expect(changes).toMatchObject({ status: 'UNKNOWN', dueAt: null, content: null, claim: 'c', failureCode: 'OUTCOME_UNKNOWN' })
    expect([outcomesOf(changes), changes.sentAt]).toEqual([['SENT', 'UNKNOWN'], now])
    expect(conclude(mail(), { lost: 'silence' }, now)).not.toHaveProperty('sentAt')
    // A mail counted as lost may still report its outcome.
    const late = conclude(
      mail({ status: 'UNKNOWN', recipients: [to('ada@x.test', 'UNKNOWN')], dueAt: null, failureCode: 'OUTCOME_UNKNOWN' }),
      settled(['ada@x.test', 'SENT']),
      now,
    )
    expect(late).toMatchObject({ status: 'SENT', sentAt: now, failureCode: null, failureMessage: null })
  })

  test('settles the named recipients, and is repeated for the others', () => {
    const changes = conclude(mail(), settled(['ada@x.test', 'SENT']), now)
    expect([changes.status, outcomesOf(changes), changes.dueAt, changes.content]).toEqual(['QUEUED', ['SENT', null], later(5_000), undefined])
    const refused = conclude(
      mail(),
      { ...settled(['ada@x.test', 'REFUSED'], ['bob@x.test', 'REFUSED']), failure: { code: 'REFUSED', message: 'x'.repeat(600) } },
      now,
    )
    expect(refused).toMatchObject({ status: 'BOUNCED', content: null, failureCode: 'REFUSED', failureMessage: 'x'.repeat(500) })
    expect(refused).not.toHaveProperty('sentAt')
    expect(conclude(mail({ sentAt: later(-5) }), settled(['ada@x.test', 'SENT'], ['bob@x.test', 'SENT']), now).sentAt).toEqual(later(-5))
  })

  test('leaves out recipients that were suppressed since the mail was written, whatever its outcome', () => {
    const held = new Map([['bob@x.test', { outcome: 'SUPPRESSED', answer: null } as const]])
    expect(outcomesOf(conclude(mail(), settled(['ada@x.test', 'SENT']), now, held))).toEqual(['SENT', 'SUPPRESSED'])
    expect(outcomesOf(conclude(mail(), { lost: 'silence' }, now, held))).toEqual(['UNKNOWN', 'SUPPRESSED'])
    expect(outcomesOf(conclude(mail({ attempts: 6 }), { putOff: 'busy' }, now, held))).toEqual(['FAILED', 'SUPPRESSED'])
    // A delivered mail stays delivered.
    expect(outcomesOf(conclude(mail({ recipients: [to('bob@x.test', 'SENT')] }), settled(), now, held))).toEqual(['SENT'])
  })
})

describe('a report about a mail', () => {
  const following = (outcome: RecipientOutcome | null, report: Report, status: EmailStatus = 'SENDING') =>
    outcomesOf(hear(mail({ status, recipients: [to('ada@x.test', outcome)] }), report, 'ada@x.test', now))?.[0] ?? null

  test('changes only allowed outcomes: nothing reverts a complaint, and no delivery a bounce', () => {
    const all = [null, 'SENT', 'UNKNOWN', 'DELIVERED', 'BOUNCED', 'COMPLAINED', 'REFUSED', 'FAILED', 'SUPPRESSED'] as const
    expect(
      Object.fromEntries((['delivered', 'bounce', 'complaint'] as const).map(report => [report, all.filter(outcome => following(outcome, report))])),
    ).toEqual({
      delivered: [null, 'SENT', 'UNKNOWN'],
      bounce: [null, 'SENT', 'UNKNOWN', 'DELIVERED'],
      complaint: [null, 'SENT', 'UNKNOWN', 'DELIVERED', 'BOUNCED'],
    })
  })

  test('is ignored for a mail without an attempt, and for other recipients', () => {
    expect([following(null, 'bounce', 'QUEUED'), following(null, 'bounce')]).toEqual([null, 'BOUNCED'])
    expect(hear(mail(), 'bounce', 'eve@x.test', now)).toBeNull()
  })

  test('about one recipient leaves the others unchanged: the mail continues if somebody waits for it', () => {
    expect(hear(mail(), 'delivered', 'ada@x.test', now)).toEqual({ recipients: [to('ada@x.test', 'DELIVERED'), to('bob@x.test')] })
    const sent = mail({ status: 'SENT', recipients: [to('ada@x.test', 'SENT'), to('bob@x.test', 'SENT')], sentAt: later(-9) })
    expect(hear(sent, 'bounce', 'bob@x.test', now)).toMatchObject({
      ...{ status: 'BOUNCED', recipients: [to('ada@x.test', 'SENT'), to('bob@x.test', 'BOUNCED')], sentAt: later(-9), failureCode: 'BOUNCED' },
      failureMessage: 'reported by the mail server as bounce',
    })
    expect(hear(sent, 'complaint', 'bob@x.test', now)).toMatchObject({ status: 'COMPLAINED', failureCode: 'COMPLAINED' })
  })

  test('settles a mail of unknown outcome', () => {
    const unknown = mail({ status: 'UNKNOWN', recipients: [to('ada@x.test', 'UNKNOWN')], failureCode: 'OUTCOME_UNKNOWN', failureMessage: 'silence' })
    expect(hear(unknown, 'delivered', 'ada@x.test', now)).toMatchObject({
      ...{ status: 'DELIVERED', sentAt: now, dueAt: null, claim: null, content: null, failureCode: null, failureMessage: null },
    })
    const two = mail({ status: 'UNKNOWN', recipients: [to('ada@x.test', 'UNKNOWN'), to('bob@x.test', 'UNKNOWN')], failureCode: 'OUTCOME_UNKNOWN' })
    const half = hear(two, 'delivered', 'ada@x.test', now)
    expect([half?.status, half && 'failureCode' in half]).toEqual(['UNKNOWN', false])
  })
})
