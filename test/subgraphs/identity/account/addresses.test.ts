import { afterEach, describe, expect, it } from 'vitest'
import { freshIdentity } from '../identity-world.ts'
import { accountsOf, phrase } from './account-world.ts'

const open = freshIdentity({ started: true })
const { post, signIn, settled } = accountsOf(open)

afterEach(settled)

let number = 0
const address = (name: string) => `${name}-${++number}@accounts.test`
const signUp = (email: string, password = phrase) => post('/sign-up/email', { email, password, name: 'Somebody' })

describe('the address of a sign-up', () => {
  it.each([
    'supergraphsupergraph',
    'Supergraph-2026',
    'supergraph-demo',
    'Password-Admin-1!',
    'qwertyuiopas',
    'asdfghjkl1234',
    'lkjhgfdsapoiu',
    'Zxcvbnm,1234',
    'azertyuiop!!',
  ])('refuses %s, which is made of words of the product or of neighbouring keys', async password => {
    expect(await signUp(address('weak'), password)).toMatchObject({ status: 400, json: { code: 'BAD_USER_INPUT', field: 'password' } })
  })

  it.each(['supergraph with gravel', 'a long enough pass phrase', 'poetry where qwerty rests', 'Tr0ub4dor&3xx'])('takes %s', async password => {
    expect((await signUp(address('strong'), password)).status).toBe(202)
  })

  it.each([
    'a&b',
    'a=b',
    "o'neil+x",
    'a/b',
    'm!x',
    'jürgen',
    '用户',
    'иван',
  ])('makes an account for %s@…, who verifies it by mail and signs in', async local => {
    const email = address(local)
    expect((await signUp(email)).status).toBe(202)
    expect((await post('/verify-email', { code: await open.mailbox.code(email, 'verify-email') })).json).toEqual({ email })
    expect(await signIn(email, phrase)).toBe(200)
    expect(await signIn(email, 'another pass phrase')).toBe(401)
    const capitals = email.toLocaleUpperCase('en').normalize('NFD')
    expect(await signIn(capitals, phrase)).toBe(200)
    // Another spelling of the address is the same address, and creates no second account.
    await signUp(capitals)
    await open.mailbox.mail(email, 'already-registered')
  })

  it.each(['a b', 'a@', '.a', 'a..b', '"a"', 'a\u200bb', 'ﬁle', '\u212aelvin', 'аda'])('makes none for %s@…', async local => {
    expect(await signUp(`${local}@accounts.test`)).toMatchObject({ status: 400, json: { field: 'email' } })
  })
})
