import { existsSync, mkdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it, test } from 'vitest'
import { deliverSetupLink, setupLinkFile } from '../../router/start/process/setup-link.ts'
import { signIn } from '../kit/client.ts'
import { createTestDatabase } from '../kit/database.ts'
import { type DataFolder, launchPlatform, newDataFolder, platformEnvironment, readyLine } from '../kit/launch.ts'

const linkPattern = /^http:\S+\/identity\/setup\?code=[\w-]{43}\n$/
const secretPattern = /setup\?code=|code=[\w-]{43}/

const form = { organization: 'Ünion & Söhne', name: 'Ada', email: 'Ada@Example.test', password: 'a long enough one' }

/** The link that the last start wrote for the owner of the folder alone. */
function linkIn(folder: DataFolder): string {
  const file = setupLinkFile(folder.path)
  expect(statSync(file).mode & 0o777).toBe(0o600)
  const text = readFileSync(file, 'utf8')
  expect(text).toMatch(linkPattern)
  return text.trim()
}

test('D11 outside loopback there is no sandbox, no account and no password, but a set-up link for the operator until somebody has signed in', async () => {
  await using folder = newDataFolder()
  await using database = await createTestDatabase()
  const environment = { ...(await platformEnvironment(folder)), HOST: '0.0.0.0', DATABASE_URL: database.url }
  const count = async (table: string) => ((await database.sequelize.query(`select count(*)::int as n from ${table}`))[0] as { n: number }[])[0]!.n

  const first = launchPlatform(environment)
  const [, url = ''] = await first.printed(readyLine)
  expect(first.said()).not.toMatch(/sandbox \(|password(?! be reset)|demo accounts,/i)
  expect(existsSync(join(folder.path, 'sandbox')) || existsSync(join(folder.path, 'demo.json'))).toBe(false)
  expect([await count('identity.users'), await count('publishing.brands')]).toEqual([0, 0])
  const formerLink = linkIn(folder)
  const [stored] = (await database.sequelize.query(`select value from identity.verifications`))[0] as { value: string }[]
  expect(stored!.value).toMatch(/^[0-9a-f]{64}$/)
  first.child.kill('SIGTERM')
  await first.ended

  const second = launchPlatform(environment)
  await second.printed(readyLine)
  const link = linkIn(folder)
  const code = new URL(link).searchParams.get('code')!
  const send = (fields: Record<string, string>) => fetch(`${url}/identity/setup`, { method: 'POST', body: new URLSearchParams(fields) })
  expect((await fetch(formerLink)).status).toBe(410)
  expect((await fetch(`${url}/identity/setup`)).status).toBe(410)
  const page = await fetch(link)
  expect(page.status).toBe(200)
  expect(page.headers.get('content-security-policy')).toContain("default-src 'none'")
  expect([page.headers.get('referrer-policy'), page.headers.get('cache-control')]).toEqual(['no-referrer', 'no-store'])

  expect((await send({ ...form, code: 'guessed' })).status).toBe(410)
  const short = await send({ ...form, code, password: 'short', organization: '"><script>' })
  expect(short.status).toBe(400)
  const again = await short.text()
  expect(again).toContain('The password takes 12 to 256 characters.')
  expect(again).toContain('value="&quot;&gt;&lt;script&gt;"')
  expect(again).not.toContain('value="short"')
  expect((await send({ ...form, code, organization: 'Admin' })).status).toBe(400)
  for (const email of ['A\0@b.example', 'a@b\x7f.example', 'none', 'ada@localhost', 'ﬁx@example.test'])
    expect((await send({ ...form, code, email })).status).toBe(400)
  expect(
    (await fetch(`${url}/identity/setup`, { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify({ ...form, code }) })).status,
  ).toBe(410)
  expect((await send({ ...form, code, name: 'x'.repeat(20_000) })).status).toBe(413)
  expect(await count('identity.users')).toBe(0)

  const both = await Promise.all([send({ ...form, code }), send({ ...form, code, email: 'second@example.test' })])
  expect(both.map(({ status }) => status)).toEqual([201, 201])
  expect(await both[0]!.text()).toContain('<a href="/identity/login">Sign in</a>')
  expect([await count('identity.users'), await count('identity.organizations'), await count('identity.memberships')]).toEqual([1, 2, 2])
  second.child.kill('SIGTERM')
  await second.ended

  // Nobody has signed in: an address with a typing error is put right by the link of the next start.
  const third = launchPlatform(environment)
  await third.printed(readyLine)
  const next = linkIn(folder)
  expect(next).not.toBe(link)
  const nextCode = new URL(next).searchParams.get('code')!
  expect((await send({ ...form, code, email: 'intruder@example.test' })).status).toBe(410)
  expect((await send({ ...form, code: nextCode, password: 'another long one' })).status).toBe(201)
  expect((await send({ ...form, code: nextCode })).status).toBe(201)
  expect(await count('identity.users')).toBe(1)
  const person = await signIn(url, 'ada@example.test', form.password)
  for (const dead of [await fetch(next), await send({ ...form, code: nextCode, password: 'somebody else’s' })]) expect(dead.status).toBe(410)
  expect(await person.query('{ viewer { user { name } organization { name } } }')).toEqual({
    viewer: { user: { name: 'Ada' }, organization: { name: 'Ünion & Söhne' } },
  })
  const [roles] = await database.sequelize.query(
    `select o.slug, m.roles from identity.memberships m join identity.organizations o on o.id = m.organization_id order by m.created_at`,
  )
  expect(roles).toEqual([
    { slug: 'union-sohne', roles: ['owner'] },
    { slug: 'admin', roles: ['platform_super_admin'] },
  ])
  third.child.kill('SIGTERM')
  await third.ended

  const fourth = launchPlatform(environment)
  await fourth.printed(readyLine)
  expect(existsSync(setupLinkFile(folder.path))).toBe(false)
  // Not a terminal: neither lines for eyes nor the log hold a code.
  for (const each of [first, second, third, fourth]) expect(each.said() + each.complained()).not.toMatch(secretPattern)
  expect(third.said()).toContain(setupLinkFile(folder.path))
  expect(fourth.said()).not.toContain(setupLinkFile(folder.path))
})

describe('deliverSetupLink', () => {
  const publicUrl = 'https://platform.example'
  const link = `${publicUrl}/identity/setup?code=secret`
  const open = () => {
    const [said, shown]: [string[], string[]] = [[], []]
    const reporter = { say: (...words: unknown[]) => said.push(JSON.stringify(words)), warn: (...words: unknown[]) => said.push(JSON.stringify(words)) }
    let counts = false
    const openSetup = async (keep?: (path: string) => void) => {
      keep?.('/identity/setup?code=secret')
      counts = true
      return '/identity/setup?code=secret'
    }
    const deliver = (dataDir: string, isTerminal = false) =>
      deliverSetupLink({ openSetup }, { dataDir, publicUrl, reporter, terminal: isTerminal ? text => shown.push(text) : null })
    return { said, shown, deliver, counts: () => counts }
  }

  it('shows the link on a terminal, and never in a line of the log', async () => {
    await using folder = newDataFolder()
    const { said, shown, deliver } = open()
    const announce = await deliver(folder.path, true)
    expect(shown.join()).toContain(link)
    expect(said).toEqual([])
    announce!()
    expect(said).toHaveLength(1)
    expect(said.join()).not.toContain('secret')
  })

  it('writes a file of mode 0600 that replaces whatever was there, and follows no link', async () => {
    await using folder = newDataFolder()
    const [file, elsewhere] = [setupLinkFile(folder.path), join(folder.path, 'elsewhere')]
    writeFileSync(file, 'old', { mode: 0o644 })
    writeFileSync(elsewhere, 'untouched')
    symlinkSync(elsewhere, `${file}.new`)
    await open().deliver(folder.path)
    expect([readFileSync(file, 'utf8'), statSync(file).mode & 0o777]).toEqual([`${link}\n`, 0o600])
    expect(readFileSync(elsewhere, 'utf8')).toBe('untouched')
  })

  it('creates a data folder that nobody else can enter', async () => {
    await using folder = newDataFolder()
    const within = join(folder.path, 'new')
    await open().deliver(within)
    expect(statSync(within).mode & 0o777).toBe(0o700)
  })

  it('warns and keeps the former link valid when the file cannot be written and there is no terminal', async () => {
    await using folder = newDataFolder()
    // A folder in place of the file: no user may rename a file over it, not even root.
    mkdirSync(join(setupLinkFile(folder.path), 'in the way'), { recursive: true })
    const unseen = open()
    await unseen.deliver(folder.path)
    expect(unseen.counts()).toBe(false)
    expect(unseen.said).toEqual([expect.stringContaining('let DATA_DIR name a folder')])
    const seen = open()
    await seen.deliver(folder.path, true)
    expect([seen.counts(), seen.shown.join()]).toEqual([true, expect.stringContaining(link)])
    expect(seen.said.join()).not.toContain('secret')
  })
})
