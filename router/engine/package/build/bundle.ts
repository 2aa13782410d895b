import { readdirSync, readFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { type OutputChunk, rolldown } from 'rolldown'
import type { PackedFile } from './archive.ts'

/** What the package takes from where it is installed. */
const external = [/^node:/, /^graphql(?:\/|$)/, /^@apollo\//, /^@graphql-hive\//, /^@opentelemetry\//, /^ws$/, /^graphql-ws(?:\/|$)/]

/** Functions that Node 20 does not have, and what stands for them. */
const standIns = { 'Map.groupBy': 'groupBy', 'Promise.withResolvers': 'withResolvers' }

/** A package whose code is in the bundle. */
export interface Bundled {
  readonly name: string
  readonly license: string
}

export interface Bundle {
  readonly files: readonly PackedFile[]
  /** Names that the main module exports. */
  readonly exports: readonly string[]
  readonly bundled: readonly Bundled[]
}

/** Bundles the package: CommonJS, and a module that exports the same objects. @param root of this repository */
export async function bundle(root: string): Promise<Bundle> {
  const folder = join(root, 'router/engine/package')
  const build = await rolldown({
    input: { index: join(folder, 'exports.ts'), command: join(root, 'router/start/mode/packaged/bin.ts') },
    cwd: root,
    platform: 'node',
    external,
    // Nothing that the package uses of these modules needs them.
    treeshake: { moduleSideEffects: (id: string) => !id.includes('/undici/') },
    transform: {
      target: 'node20',
      inject: Object.fromEntries(Object.entries(standIns).map(([name, own]) => [name, [join(folder, 'build/stand-ins.ts'), own]])),
    },
  })
  const { output } = await build.generate({ format: 'cjs', minify: true, entryFileNames: '[name].cjs', chunkFileNames: '[name].cjs', exports: 'named' })
  await build.close()
  const chunks = output.filter((each): each is OutputChunk => each.type === 'chunk')
  const main = chunks.find(({ name, isEntry }) => isEntry && name === 'index')!
  const files: PackedFile[] = chunks.map(({ fileName, name, isEntry, code }) => {
    const isProgram = isEntry && name === 'command'
    return { path: `dist/${fileName}`, text: isProgram ? `#!/usr/bin/env node\n${code}` : code, isProgram }
  })
  const names = main.exports.toSorted()
  files.push({ path: 'dist/index.mjs', text: `import all from './index.cjs'\n\nexport const { ${names.join(', ')} } = all\n` })
  const modules = chunks.flatMap(({ moduleIds }) => moduleIds).map(id => relative(root, id))
  return { files, exports: names, bundled: bundledIn(root, modules) }
}

function bundledIn(root: string, modules: readonly string[]): Bundled[] {
  const names = new Set(modules.flatMap(path => /^node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(path)?.[1] ?? []))
  return [...names].toSorted().map(name => {
    const folder = join(root, 'node_modules', name)
    const file = readdirSync(folder).find(each => /^licen[cs]e(?:\.\w+)?$/i.test(each))
    if (!file) throw new Error(`${name} has no licence that could be passed on`)
    return { name, license: readFileSync(join(folder, file), 'utf8').trim() }
  })
}
