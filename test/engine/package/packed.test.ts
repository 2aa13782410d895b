import { execFile, execFileSync, spawn } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { pack, packedFiles } from '../../../router/engine/package/build/pack.ts'
import { version } from '../../../router/engine/package/version.ts'
import { type Shop, startShop } from './shop.ts'

const run = promisify(execFile)
let folder: string
let app: string
let archive: string
let shop: Shop

beforeAll(async () => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), 'packed-')))
  archive = await pack(folder)
  shop = await startShop()
  app = join(folder, 'app')
  const modules = join(app, 'node_modules')
  mkdirSync(join(modules, 'supergraph-gateway'), { recursive: true })
  execFileSync('tar', ['xzf', archive, '-C', join(modules, 'supergraph-gateway'), '--strip-components=1'])
  for (const name of readdirSync('node_modules'))
    if (!name.startsWith('.') && !existsSync(join(modules, name))) symlinkSync(resolve('node_modules', name), join(modules, name))
  writeFileSync(join(app, 'supergraph.graphql'), shop.supergraphSdl)
}, 120_000)
afterAll(async () => {
  await shop.close()
  rmSync(folder, { recursive: true, force: true })
})

/** Runs a program of a user, and reads the last line that it writes. */
async function runs(file: string, text: string) {
  writeFileSync(join(app, file), text)
  const { stdout } = await run(process.execPath, [file], { cwd: app })
  return JSON.parse(stdout.trim().split('\n').at(-1)!)
}

describe('the package', () => {
  it('is the same byte by byte when it is made again', async () => {
    const again = await pack(join(folder, 'again'))
    expect(readFileSync(again).equals(readFileSync(archive))).toBe(true)
    expect(archive).toMatch(/supergraph-gateway-\d+\.\d+\.\d+\.tgz$/)
  })

  it('has the version of this repository, is small, and may be passed on', async () => {
    const files = new Map((await packedFiles()).map(({ path, text }) => [path, text]))
    const manifest = JSON.parse(files.get('package.json')!)
    expect([version, manifest.version]).toEqual(Array(2).fill(JSON.parse(readFileSync('package.json', 'utf8')).version))
    expect(manifest).toMatchObject({ name: 'supergraph-gateway', license: 'MIT', engines: { node: '>=20' }, peerDependencies: { graphql: '^16.11.0' } })
    expect(Object.keys(manifest.dependencies).sort()).toEqual(['@apollo/federation-internals', '@apollo/query-planner', '@graphql-hive/router-query-planner'])
    expect([...files.values()].reduce((sum, text) => sum + text.length, 0)).toBeLessThan(400_000)
    expect(files.get('README.md')).toContain('## Migrating from @apollo/gateway')
    expect(files.get('LICENSE')).toMatch(/^MIT License[^-]*SOFTWARE\.\n$/)
    expect(files.get('NOTICE')).toContain('Elastic License 2.0')
    expect([...files.keys()].filter(path => !/^(?:LICENSE|NOTICE|README\.md|package\.json|dist\/[\w.-]+)$/.test(path))).toEqual([])
  })

  it('has no file, name or address of the platform', async () => {
    const slugs = readdirSync('subgraphs').filter(name => statSync(join('subgraphs', name)).isDirectory() && !['store', 'http', 'wiring'].includes(name))
    expect(slugs).toContain('publishing')
    const platform = new RegExp(`\\b(?:${slugs.join('|')})\\b|subgraphs/|router/|platform/|x-viewer|X-Organization-Id|example\\.com|${process.cwd()}`, 'i')
    for (const { path, text } of await packedFiles()) if (path !== 'README.md') expect([path, platform.exec(text)?.[0]]).toEqual([path, undefined])
  })

  it('uses nothing that Node 20 does not have', async () => {
    const newer =
      /Map\.groupBy|Object\.groupBy|Promise\.withResolvers|Promise\.try|\.isDisjointFrom\(|\.isSubsetOf\(|\.toArray\(\)|Array\.fromAsync|AsyncDisposableStack|\bawait using\b|import\.meta\.main/
    for (const { path, text } of await packedFiles()) expect([path, newer.exec(text)?.[0]]).toEqual([path, undefined])
  })

  it('serves an Apollo Server that is a module', async () => {
    const answer = await runs(
      'server.mjs',
      `import { readFileSync } from 'node:fs'
import { ApolloServer } from '@apollo/server'
import { ApolloGateway, RemoteGraphQLDataSource } from 'supergraph-gateway'
class Source extends RemoteGraphQLDataSource { willSendRequest({ request }) { request.http.headers.set('x-of', 'hook') } }
const gateway = new ApolloGateway({ supergraphSdl: readFileSync('supergraph.graphql', 'utf8'), buildService: ({ url }) => new Source({ url }) })
const server = new ApolloServer({ gateway })
await server.start()
const { body } = await server.executeOperation({ query: '{ products { name stock score } }' })
console.log(JSON.stringify(body.singleResult))
await server.stop()`,
    )
    expect(answer.data.products[1]).toEqual({ name: 'chair', stock: 20, score: 1 })
    expect(shop.asked.at(-1)!.headers['x-of']).toBe('hook')
  })

  it('serves an Apollo Server that requires it', async () => {
    const answer = await runs(
      'server.cjs',
      `const { ApolloServer } = require('@apollo/server'), { ApolloGateway, IntrospectAndCompose } = require('supergraph-gateway')
const subgraphs = ${JSON.stringify(Object.entries(shop.urls).map(([name, url]) => ({ name, url })))}
const server = new ApolloServer({ gateway: new ApolloGateway({ supergraphSdl: new IntrospectAndCompose({ subgraphs }) }) })
server.start().then(() => server.executeOperation({ query: '{ warehouse { city } }' })).then(({ body }) => { console.log(JSON.stringify(body.singleResult)); return server.stop() })`,
    )
    expect(answer.data).toEqual({ warehouse: { city: 'Rotterdam' } })
  })

  it('is one and the same for both kinds of programs', async () => {
    const text = `import { createRequire } from 'node:module'
import * as module from 'supergraph-gateway'
const required = createRequire(import.meta.url)('supergraph-gateway')
console.log(JSON.stringify(Object.keys(required).every(name => required[name] === module[name]) && Object.keys(required).length))`
    expect(await runs('one.mjs', text)).toBeGreaterThan(10)
  })

  it('starts a router by its command, and fails with one line', async () => {
    const program = join(app, 'node_modules/supergraph-gateway/dist/command.cjs')
    const wrong = await run(process.execPath, [program, 'missing.graphql'], { cwd: app }).catch(failure => failure)
    expect([wrong.code, wrong.stdout, wrong.stderr.trim().split('\n').length]).toEqual([1, '', 1])
    const running = spawn(process.execPath, [program, 'supergraph.graphql', '--port', '0', '--host', '127.0.0.1'], { cwd: app })
    const line = await new Promise<string>(resolve => running.stdout.once('data', text => resolve(String(text))))
    const [, url] = /^ready: (http:\/\/\S+\/graphql)\n$/.exec(line)!
    const response = await fetch(`${url}?query={warehouse{city}}`)
    expect(await response.json()).toEqual({ data: { warehouse: { city: 'Rotterdam' } } })
    running.kill()
    expect(await new Promise(resolve => running.once('exit', code => resolve(code)))).toBe(0)
  })

  it('has types that Apollo Server accepts', async () => {
    const program = `import { ApolloServer } from '@apollo/server'
import { ApolloGateway, type GatewayConfig, type GraphQLDataSource, IntrospectAndCompose, LocalGraphQLDataSource, RemoteGraphQLDataSource, type SupergraphManager, type SupergraphSdlHook } from 'supergraph-gateway'
class Source extends RemoteGraphQLDataSource<{ user: string }> {
  override willSendRequest({ request, context }: Parameters<NonNullable<RemoteGraphQLDataSource<{ user: string }>['willSendRequest']>>[0]) { request.http?.headers.set('x-user', context.user) }
}
const hook: SupergraphSdlHook = async ({ update, healthCheck, getDataSource }) => { update(''); await healthCheck(''); const source: GraphQLDataSource = getDataSource({ name: 'a', url: 'b' }); return { supergraphSdl: String(source), async cleanup() {} } }
const manager: SupergraphManager = new IntrospectAndCompose({ subgraphs: [{ name: 'a', url: 'http://a' }], pollIntervalInMs: 1000 })
const config: GatewayConfig = { supergraphSdl: hook, buildService: ({ url }) => new Source({ url, willSendRequest() {} }), experimental_didResolveQueryPlan: ({ queryPlan }) => void queryPlan.node?.kind }
new ApolloServer<{ user: string }>({ gateway: new ApolloGateway(config) })
export const server = new ApolloServer({ gateway: new ApolloGateway({ supergraphSdl: manager, telemetry: { recordExceptions: 2 } }) })
// @ts-expect-error a schema is no text
new LocalGraphQLDataSource('type Query')
`
    writeFileSync(join(app, 'types.mts'), program)
    writeFileSync(join(app, 'types.cts'), program)
    const options = ['--noEmit', '--strict', '--target', 'es2022', '--module', 'nodenext', '--types', 'node', 'types.mts', 'types.cts']
    const { stdout } = await run(process.execPath, [resolve('node_modules/typescript/bin/tsc'), '--ignoreConfig', ...options], { cwd: app }).catch(
      failure => failure,
    )
    expect(stdout).toBe('')
  })
})
