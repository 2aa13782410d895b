import { Stripe } from 'stripe'
import { expect, test } from 'vitest'
import { failureOf } from '../../../subgraphs/providers/processor/stripe/failure.ts'

const secret = 'sk_live_of_nobody_at_all'
const sentenceOf = (message: string, type = 'invalid_request_error', statusCode = 400) =>
  failureOf(Stripe.errors.StripeError.generate({ type, message, statusCode } as never), [secret, undefined])!.refusal.message

test.each([
  `Invalid API Key provided: ${secret}`,
  'Invalid API Key provided: sk_test_****************4242',
  'rk_live_51Habc is restricted, as whsec_Zm9vYmFy is',
  `No such price: 'x'; a similar object exists in test mode, but sk_live_x was used (${secret}).`,
])('S-16 what the processor says is told without keys, and without what begins as one: %s', message => {
  for (const [type, status] of [
    ['invalid_request_error', 400],
    ['invalid_request_error', 404],
    ['card_error', 402],
  ] as const) {
    const told = sentenceOf(message, type, status)
    expect(told).not.toMatch(/(?:sk|rk|whsec)_|nobody/)
    expect(told).toContain('••••')
  }
})

test.each(['The risk_level is high.', 'task_id is missing.', 'Ask for sku_1.'])('words that only look a little so stay: %s', message => {
  expect(sentenceOf(message)).toContain(message)
})
