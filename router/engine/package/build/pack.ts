import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { version } from '../version.ts'
import { archive, type PackedFile } from './archive.ts'
import { type Bundled, bundle } from './bundle.ts'
import { declarations } from './types.ts'

const root = resolve(import.meta.dirname, '../../../..')
const folder = join(root, 'router/engine/package')

/** Maximum bytes of all files of the package. */
const maxBytes = 400_000

interface Manifest {
  readonly dependencies: Readonly<Record<string, string>>
  readonly devDependencies: Readonly<Record<string, string>>
}

/** The files of the package, `package.json` among them. */
export async function packedFiles(): Promise<readonly PackedFile[]> {
  const { files, bundled } = await bundle(root)
  const types = declarations(join(folder, 'exports.ts'))
  const text = (name: string) => readFileSync(join(folder, 'files', name), 'utf8')
  const all = [
    ...files,
    // Both forms export the same objects, so both have the same types.
    { path: 'dist/index.d.cts', text: types },
    { path: 'dist/index.d.mts', text: types },
    { path: 'package.json', text: `${JSON.stringify(manifest(), null, 2)}\n` },
    { path: 'README.md', text: text('README.md') },
    { path: 'LICENSE', text: licence() },
    { path: 'NOTICE', text: `${text('NOTICE').trim()}\n${bundled.map(noticeOf).join('')}` },
  ]
  const bytes = all.reduce((sum, { text: content }) => sum + Buffer.byteLength(content), 0)
  if (bytes > maxBytes) throw new Error(`the package has ${bytes} bytes, more than ${maxBytes}`)
  return all
}

/** The licence itself: what follows it in this repository is about other packages. */
const licence = (): string => `${readFileSync(join(root, 'LICENSE'), 'utf8').split('\n---', 1)[0]!.trim()}\n`

function manifest(): object {
  const { dependencies: own, devDependencies } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as Manifest
  const take = (...names: string[]) => Object.fromEntries(names.map(name => [name, own[name] ?? devDependencies[name]!]))
  const peers = ['@apollo/composition', '@opentelemetry/api', 'graphql-ws', 'ws']
  return {
    name: 'supergraph-gateway',
    version,
    description: 'A fast gateway for federated GraphQL, and a drop-in for @apollo/gateway',
    keywords: ['graphql', 'federation', 'gateway', 'supergraph', 'apollo'],
    license: 'MIT',
    engines: { node: '>=20' },
    main: './dist/index.cjs',
    module: './dist/index.mjs',
    types: './dist/index.d.cts',
    bin: { 'supergraph-gateway': './dist/command.cjs' },
    exports: {
      '.': {
        import: { types: './dist/index.d.mts', default: './dist/index.mjs' },
        require: { types: './dist/index.d.cts', default: './dist/index.cjs' },
      },
      './package.json': './package.json',
    },
    files: ['dist', 'NOTICE'],
    dependencies: take('@apollo/federation-internals', '@apollo/query-planner', '@graphql-hive/router-query-planner'),
    peerDependencies: { ...Object.fromEntries(peers.map(name => [name, `^${take(name)[name]!.split('.')[0]}`])), graphql: '^16.11.0' },
    peerDependenciesMeta: Object.fromEntries(peers.map(name => [name, { optional: true }])),
  }
}

const noticeOf = ({ name, license }: Bundled): string => `\n${'-'.repeat(80)}\n\nPart of this package is ${name}, under this licence:\n\n${license}\n`

/** Writes the package. @returns the path of its archive */
export async function pack(out: string): Promise<string> {
  const path = join(out, `supergraph-gateway-${version}.tgz`)
  const content = archive(await packedFiles())
  mkdirSync(out, { recursive: true })
  writeFileSync(path, content)
  return path
}

if (import.meta.main) {
  let out: string | undefined
  try {
    out = parseArgs({ options: { out: { type: 'string' } } }).values.out
  } catch (cause) {
    process.stderr.write(`${(cause as Error).message}: npm run pack:engine -- [--out DIR]\n`)
    process.exit(1)
  }
  // npm runs scripts in the root, and says where it was called.
  process.stdout.write(`${await pack(resolve(root, out ?? 'dist'))}\n`)
}
