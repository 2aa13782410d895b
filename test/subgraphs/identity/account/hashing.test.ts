import { expect, test } from 'vitest'
import { createHashing } from '../../../../subgraphs/identity/credentials/account/hashing.ts'

test('callers with a code or a password do not wait behind anonymous sign-ups, however many there are', async () => {
  const hashing = createHashing()
  const order: string[] = []
  const signUp = (at: number) =>
    hashing.hash(`the password of stranger ${at}`, 'strangers').then(
      () => order.push('hashed'),
      ({ code }) => order.push(code),
    )
  const strangers = Array.from({ length: 40 }, (_, at) => signUp(at))
  const hash = await hashing.hash('the password of somebody known', 'known')
  expect(order.filter(each => each === 'hashed').length).toBeLessThanOrEqual(1)
  expect(await hashing.verify(hash, 'the password of somebody known')).toBe(true)
  await Promise.all(strangers)
  expect(order.filter(each => each === 'hashed')).toHaveLength(31)
  expect(order.filter(each => each === 'RATE_LIMITED')).toHaveLength(9)
})
