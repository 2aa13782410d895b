import { execFileSync } from 'node:child_process'
import { cpSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, test } from 'vitest'
import { signIn } from '../kit/client.ts'
import { createTestDatabase } from '../kit/database.ts'
import { freePort, launchPlatform, newDataFolder, platformEnvironment, readyLine, until } from '../kit/launch.ts'

const project = join(import.meta.dirname, '..', '..')

interface Recipe {
  /** Its blocks of code, in their order. */
  readonly blocks: readonly string[]
  /** Rows of its table of lines: file, line to insert, text after which it stands. */
  readonly lines: readonly { readonly file: string; readonly line: string; readonly after: string }[]
}

/** Reads the recipe of CONTRIBUTING.md under a heading. */
function recipe(heading: string): Recipe {
  const [, rest = ''] = readFileSync(join(project, 'CONTRIBUTING.md'), 'utf8').split(`### ${heading}\n`)
  const text = rest.split('\n### ')[0]!
  return {
    blocks: [...text.matchAll(/^ {3}```\w+\n([\s\S]*?)^ {3}```$/gm)].map(([, block]) => block!.replaceAll(/^ {3}/gm, '')),
    lines: [...text.matchAll(/^ {3}\| `(.+?)` \| `(.+)` \| `(.+?)` \|$/gm)].map(([, file, line, after]) => ({ file: file!, line: line!, after: after! })),
  }
}

const countLines = (texts: readonly string[]): number =>
  texts
    .join('\n')
    .split('\n')
    .filter(line => line.trim() !== '').length

const { blocks, lines } = recipe('Add a noun')

test('a noun with a filtered list, REST routes, a widget statistic and a webhook event takes at most 120 lines in five files', () => {
  expect([blocks.length, lines.length]).toEqual([5, 7])
  expect(countLines([...blocks, ...lines.map(({ line }) => line)])).toBeLessThanOrEqual(120)
})

/** A copy of the project, in which files are written and lines are added. */
class Checkout {
  readonly root: string

  constructor(root: string) {
    this.root = root
    for (const { name } of readdirSync(project, { withFileTypes: true }).filter(({ name }) => !/^(?:\..*|node_modules|coverage|test|bench)$/.test(name)))
      cpSync(join(project, name), join(root, name), { recursive: true })
    symlinkSync(join(project, 'node_modules'), join(root, 'node_modules'))
  }

  write(path: string, text: string): void {
    mkdirSync(dirname(join(this.root, path)), { recursive: true })
    writeFileSync(join(this.root, path), text)
  }

  change(path: string, before: string | RegExp, after: string): void {
    const text = readFileSync(join(this.root, path), 'utf8')
    const changed = text.replace(before, after)
    expect(changed, `${path} holds ${before}`).not.toBe(text)
    this.write(path, changed)
  }

  insert(path: string, line: string, after: string): void {
    this.change(path, after, `${after}\n${line.replaceAll('$', () => '$$')}`)
  }

  run(...command: readonly string[]): string {
    return execFileSync(process.execPath, command, { cwd: this.root, encoding: 'utf8' })
  }
}

/** A checkout in which the recipe was followed. */
function followRecipe(root: string): void {
  const at = new Checkout(root)
  const places = [
    'subgraphs/publishing/slogan/schema.graphql',
    'subgraphs/publishing/stores/slogan.ts',
    'subgraphs/publishing/slogan/resolvers.ts',
    'db/migrations/publishing/9999_slogans.sql',
    'router/rest/publishing/slogan.ts',
  ]
  for (const [index, place] of places.entries()) at.write(place, blocks[index]!)
  for (const { file, line, after } of lines) {
    const path = file.startsWith('router/') ? file : `subgraphs/publishing/${file}`
    at.insert(path, line, after)
  }
  for (const [path, from] of [
    ['subgraphs/publishing/context.ts', 'stores/brand.ts'],
    ['subgraphs/publishing/definition.ts', 'brand/resolvers.ts'],
    ['router/rest/tables.ts', 'publishing/brand.ts'],
  ] as const) {
    const imported = new RegExp(`^import \\{ brand(\\w+) \\} from './${from}'$`, 'm')
    at.change(path, imported, `$&\nimport { slogan$1 } from './${from.replace('brand', 'slogan')}'`)
  }
  at.run('schema/generate.ts')
  at.run('schema/check.ts')
}

test('the noun of CONTRIBUTING.md works exactly as written there', { timeout: 180_000 }, async () => {
  await using folder = newDataFolder()
  await using database = await createTestDatabase({ empty: true })
  const root = join(folder.path, 'checkout')
  followRecipe(root)
  const environment = { ...(await platformEnvironment(folder)), SANDBOX_PORT: String(await freePort()), DATABASE_URL: database.url }
  const platform = launchPlatform(environment, { cwd: root })
  try {
    await platform.printed(readyLine)
    const url = `http://localhost:${environment.PORT}`
    const [owner, outsider] = await Promise.all(['owner@demo.test', 'outsider@other.test'].map(email => signIn(url, email)))
    const brandId: string = (await owner!.ask('{ brands { nodes { id } } }')).data().brands.nodes[0].id
    const address = `http://localhost:${environment.SANDBOX_PORT}/hooks/recipe`
    const subscribe = 'mutation($input: CreateWebhookEndpointInput!) { createWebhookEndpoint(input: $input) { endpoint { id } } }'
    const { endpoint } = (await owner!.ask(subscribe, { input: { brandId, url: address, events: ['slogan.created'] } })).data().createWebhookEndpoint

    const create = 'mutation($input: CreateSloganInput!) { createSlogan(input: $input) { id text } }'
    const make = (text: string) => owner!.ask(create, { input: { brandId, text, idempotencyKey: 'one' } })
    const made = (await make('Onwards')).data().createSlogan
    expect(made).toMatchObject({ text: 'Onwards' })
    expect((await make('Onwards')).data().createSlogan).toEqual(made)
    expect((await make('Backwards')).refused('CONFLICT').extensions).toMatchObject({ reason: 'KEY_REUSED' })

    const makeKey = 'mutation { createApiKey(input: { name: "writer", scopes: ["publishing:posts.write"] }) { secret } }'
    const { secret } = (await owner!.ask(makeKey)).data().createApiKey
    const written = await fetch(`${url}/graphql`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-api-key': secret },
      body: JSON.stringify({ query: create, variables: { input: { brandId, text: 'Onwards', idempotencyKey: 'one' } } }),
    })
    expect(await written.json(), 'a key that may only write').toEqual({ data: { createSlogan: made }, extensions: { replayed: ['createSlogan'] } })

    const headers = { authorization: `Bearer ${owner!.token}`, 'content-type': 'application/json' }
    const posted = await fetch(`${url}/publishing/api/slogans`, { method: 'POST', headers, body: JSON.stringify({ brandId, text: 'Upwards' }) })
    const { id } = (await posted.json()) as { readonly id: string }
    expect([posted.status, posted.headers.get('location')]).toEqual([201, expect.stringContaining(`/api/slogans/${id}`)])
    const listed = await fetch(`${url}/publishing/api/slogans?text=Upwards`, { headers })
    expect(await listed.json()).toMatchObject({ slogans: [{ id, brandId, text: 'Upwards' }], totalCount: 1 })

    const list = (filter: string) => `{ slogans${filter} { totalCount nodes { text } } }`
    expect((await owner!.ask(list(''))).data().slogans).toEqual({ totalCount: 2, nodes: [{ text: 'Upwards' }, { text: 'Onwards' }] })
    expect((await owner!.ask(list('(text: "Onwards")'))).data().slogans).toEqual({ totalCount: 1, nodes: [{ text: 'Onwards' }] })
    expect((await outsider!.ask(list(''))).data().slogans).toEqual({ totalCount: 0, nodes: [] })
    const one = `{ slogan(id: "${made.id}") { text } }`
    expect((await owner!.ask(one)).data()).toEqual({ slogan: { text: 'Onwards' } })
    ;(await outsider!.ask(one)).refused('NOT_FOUND')

    const { statistics } = (await owner!.ask('{ publishingWidget { statistics { key value } } }')).data().publishingWidget
    expect(statistics).toContainEqual({ key: 'slogans', value: 2 })
    const deliveries = `{ webhookEndpoint(id: "${endpoint.id}") { deliveries { nodes { event status } } } }`
    const delivered = await until('both events are delivered', async () => {
      const { nodes } = (await owner!.ask(deliveries)).data().webhookEndpoint.deliveries
      return nodes.every(({ status }: { readonly status: string }) => status === 'DELIVERED') && nodes
    })
    expect(delivered).toEqual(Array(2).fill({ event: 'slogan.created', status: 'DELIVERED' }))
  } finally {
    platform.child.kill('SIGTERM')
    await platform.ended
  }
})

test('the setting of CONTRIBUTING.md touches two files, is described, and reaches the context of its subgraph', { timeout: 120_000 }, async () => {
  await using folder = newDataFolder()
  const at = new Checkout(join(folder.path, 'checkout'))
  const { lines } = recipe('Add a setting')
  expect(lines.map(({ file }) => file)).toEqual(['config/quotas.ts', 'subgraphs/publishing/registration.ts'])
  for (const { file, line, after } of lines) at.insert(file, line, after)
  // Whoever uses it, as a rule would.
  at.write(
    'subgraphs/publishing/brand/slogan-quota.ts',
    "import type { Context } from '../context.ts'\n\nexport const quotaOf = ({ quotas }: Context): number => quotas.slogansAnOrganization\n",
  )
  at.run('schema/generate.ts')
  at.run('schema/check.ts')
  at.write(
    'tsconfig.setting.json',
    JSON.stringify({ extends: './tsconfig.json', include: ['config.ts', 'platform/**/*.ts', 'router/**/*.ts', 'subgraphs/**/*.ts'] }),
  )
  at.run('node_modules/typescript/bin/tsc', '-p', 'tsconfig.setting.json')
  expect(readFileSync(join(at.root, 'docs/operating/configuration.md'), 'utf8')).toContain('SLOGANS_PER_ORGANIZATION')
  expect(at.run('router/main.ts', '--help')).toContain('Slogans of an organization.')
  const read = "import { readConfig } from './config.ts'\nconsole.log(readConfig({ SLOGANS_PER_ORGANIZATION: '9' }).quotas.slogansAnOrganization)\n"
  at.write('read.ts', read)
  expect(at.run('read.ts').trim()).toBe('9')
})
