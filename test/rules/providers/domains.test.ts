import { describe, expect, it } from 'vitest'
import { readDomainName } from '../../../subgraphs/providers/email/address.ts'
import { refusePublicSuffix } from '../../../subgraphs/providers/email/domain/public-suffix.ts'

describe('readDomainName', () => {
  it.each([
    ['Mail.Example.com.', 'mail.example.com'],
    ['münchen.example', 'xn--mnchen-3ya.example'],
    ['例え.テスト.example', 'xn--r8jz45g.xn--zckzah.example'],
  ])('reads %s as %s', (given, name) => {
    expect(readDomainName(given)).toBe(name)
  })

  it.each([
    'mail.test/evil',
    'mail.test:25',
    'mail.test?x',
    'mail.test#x',
    'ada@mail.test',
    'mail.te\nst',
    'mail%2etest',
    'a b.test',
    '..',
    '10.0.0.1',
  ])('refuses %j', given => {
    expect(readDomainName(given)).toBeNull()
  })
})

describe('refusePublicSuffix', () => {
  it.each(['co.uk', 'com.au', 'github.io', 'xn--55qx5d.cn'])('refuses %s, below which others register names', async name => {
    await expect(refusePublicSuffix(name)).rejects.toMatchObject({ code: 'BAD_USER_INPUT', extensions: { field: 'domain' } })
  })

  it.each(['example.co.uk', 'mail.example.com', 'ada.github.io', 'demo.test'])('takes %s', async name => {
    await expect(refusePublicSuffix(name)).resolves.toBeUndefined()
  })
})
