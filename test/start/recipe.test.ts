import { execFileSync } from 'node:child_process'
import { cpSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, test } from 'vitest'
import { signIn } from '../kit/client.ts'
import { createTestDatabase } from '../kit/database.ts'
import { launchPlatform, newDataFolder, platformEnvironment, readyLine } from '../kit/launch.ts'

const project = join(import.meta.dirname, '..', '..')

/** The recipe of CONTRIBUTING.md under a heading, and its blocks of code in their order. */
function recipe(heading: string): readonly string[] {
  const [, rest = ''] = readFileSync(join(project, 'CONTRIBUTING.md'), 'utf8').split(`### ${heading}\n`)
  return [...rest.split('\n### ')[0]!.matchAll(/^ {3}```\w+\n([\s\S]*?)^ {3}```$/gm)].map(([, block]) => block!.replaceAll(/^ {3}/gm, ''))
}

test('the noun of CONTRIBUTING.md, written as it stands there, is made, listed and read by its organization alone', { timeout: 180_000 }, async () => {
  await using folder = newDataFolder()
  await using database = await createTestDatabase({ empty: true })
  const root = join(folder.path, 'checkout')
  for (const { name } of readdirSync(project, { withFileTypes: true }).filter(({ name }) => !/^(?:\..*|node_modules|coverage|test|bench)$/.test(name)))
    cpSync(join(project, name), join(root, name), { recursive: true })
  symlinkSync(join(project, 'node_modules'), join(root, 'node_modules'))
  const write = (path: string, text: string) => {
    mkdirSync(dirname(join(root, path)), { recursive: true })
    writeFileSync(join(root, path), text)
  }
  const change = (path: string, before: RegExp, after: string) => {
    const text = readFileSync(join(root, path), 'utf8')
    expect(text, path).toMatch(before)
    write(path, text.replace(before, after))
  }
  const [sdl, store, resolvers, sql] = recipe('Add a noun')
  write('subgraphs/publishing/slogan/schema.graphql', sdl!)
  write('subgraphs/publishing/stores/slogan.ts', store!)
  write('subgraphs/publishing/slogan/resolvers.ts', resolvers!)
  write('db/migrations/publishing/9999_slogans.sql', sql!)
  change('subgraphs/publishing/context.ts', /^( +)brands: brandStore,$/m, '$&\n$1slogans: sloganStore,')
  change('subgraphs/publishing/context.ts', /^import .*stores\/brand.*$/m, "$&\nimport { sloganStore } from './stores/slogan.ts'")
  change('subgraphs/publishing/definition.ts', /^( +)brand: brandResolvers,$/m, '$&\n$1slogan: sloganResolvers,')
  change('subgraphs/publishing/definition.ts', /^import .*brand\/resolvers.*$/m, "$&\nimport { sloganResolvers } from './slogan/resolvers.ts'")
  execFileSync(process.execPath, ['schema/generate.ts'], { cwd: root })
  execFileSync(process.execPath, ['schema/check.ts'], { cwd: root })

  const lines = [sdl, store, resolvers, sql]
    .join('')
    .split('\n')
    .filter(line => line.trim() !== '').length
  expect(lines, 'a noun of a list, a query and a mutation is small').toBeLessThanOrEqual(110)

  const environment = { ...(await platformEnvironment(folder)), DATABASE_URL: database.url }
  const platform = launchPlatform(environment, { cwd: root })
  try {
    await platform.printed(readyLine)
    const [owner, outsider] = await Promise.all(['owner@demo.test', 'outsider@other.test'].map(email => signIn(`http://localhost:${environment.PORT}`, email)))
    const create = 'mutation($input: CreateSloganInput!) { createSlogan(input: $input) { id words } }'
    const make = (words: string) => owner!.ask(create, { input: { words, idempotencyKey: 'one' } })
    const made = (await make('Onwards')).data().createSlogan
    expect(made).toMatchObject({ words: 'Onwards' })
    expect((await make('Onwards')).data().createSlogan).toEqual(made)
    expect((await make('Backwards')).refused('CONFLICT').extensions).toMatchObject({ reason: 'KEY_REUSED' })
    const makeKey = 'mutation { createApiKey(input: { name: "writer", scopes: ["publishing:posts.write"] }) { secret } }'
    const { secret } = (await owner!.ask(makeKey)).data().createApiKey
    const written = await fetch(`http://localhost:${environment.PORT}/graphql`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-api-key': secret },
      body: JSON.stringify({ query: create, variables: { input: { words: 'Onwards', idempotencyKey: 'one' } } }),
    })
    expect(await written.json(), 'a key that may only write').toEqual({ data: { createSlogan: made }, extensions: { replayed: ['createSlogan'] } })
    const list = '{ slogans { totalCount nodes { words } edges { cursor node { id } } } }'
    expect((await owner!.ask(list)).data()).toMatchObject({ slogans: { totalCount: 1, nodes: [{ words: 'Onwards' }] } })
    expect((await outsider!.ask(list)).data()).toMatchObject({ slogans: { totalCount: 0, nodes: [] } })
    const one = `{ slogan(id: "${made.id}") { words } }`
    expect((await owner!.ask(one)).data()).toEqual({ slogan: { words: 'Onwards' } })
    ;(await outsider!.ask(one)).refused('NOT_FOUND')
  } finally {
    platform.child.kill('SIGTERM')
    await platform.ended
  }
})
