import { expect, it } from 'vitest'
import type { Ask } from '../../../../platform/ask.ts'
import { doForOrganization } from '../../../../platform/caller/cause.ts'
import { billingBy } from '../../../../subgraphs/launcher/engines/commerce/processor.ts'

it('has four calls of an organization under way, refuses the 69th, and lets another begin at once', async () => {
  const answers: (() => void)[] = []
  const ask = (() => new Promise(resolve => answers.push(() => resolve({ expireProcessorCheckoutSession: null })))) as unknown as Ask
  const processor = billingBy(ask)
  const close = (organizationId: string) => doForOrganization(organizationId, () => processor.closePage('cs_test'))
  const first = Array.from({ length: 68 }, () => close('one'))
  expect(answers).toHaveLength(4)
  await expect(close('one')).rejects.toMatchObject({ extensions: { code: 'RATE_LIMITED' } })
  const other = close('other')
  expect(answers).toHaveLength(5)
  answers[4]!()
  await other
  const ended = Promise.all(first)
  for (let at = 0; at < answers.length; at += 1) {
    answers[at]!()
    // The next of the line begins with the answer.
    await new Promise(setImmediate)
  }
  await ended
  expect(answers).toHaveLength(69)
})
