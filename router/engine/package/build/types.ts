import { existsSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { isolatedDeclarationSync } from 'rolldown/experimental'

const importLine = /^import (?:type )?\{([^}]*)\} from "([^"]+)";$/gm
const exportLine = /^export (?:type )?\{([^}]*)\} from "([^"]+)";$/gm

/**
 * Writes the types of the package as one file: the declarations of every file that its exports lead to.
 * @param entry the file that exports
 * @throws Error for a type that leads out of the folder of the package, or a name that two files declare
 */
export function declarations(entry: string): string {
  const own = new Map<string, string>()
  const external = new Map<string, Set<string>>()
  const declared = new Map<string, string>()
  const folder = dirname(entry)
  const surface: string[] = []

  const visit = (file: string) => {
    if (own.has(file)) return
    own.set(file, '')
    if (!file.startsWith(folder)) throw new Error(`${file} is not of the package: its types cannot be part of it`)
    const { code, errors } = isolatedDeclarationSync(file, readFileSync(file, 'utf8'), { sourcemap: false })
    if (errors.length > 0) throw new Error(`${file}: ${errors.map(({ message }) => message).join('; ')}`)
    const take = (names: string, from: string) => {
      if (from.startsWith('.')) visit(join(dirname(file), from))
      else {
        const known = external.get(from) ?? new Set()
        for (const name of names.split(',')) known.add(name.replace(/^\s*type\s+/, '').trim())
        external.set(from, known)
      }
    }
    const text = code
      .replaceAll(importLine, (_line, names: string, from: string) => {
        take(names, from)
        return ''
      })
      .replaceAll(exportLine, (_line, names: string, from: string) => {
        take(from.startsWith('.') ? '' : names, from)
        surface.push(...names.split(',').map(name => name.trim()))
        return ''
      })
    for (const [, name] of text.matchAll(/^(?:export )?(?:declare )?(?:const|class|interface|type|function) (\w+)/gm)) {
      const other = declared.get(name!)
      if (other && other !== file) throw new Error(`${name} is declared in ${other} and ${file}`)
      declared.set(name!, file)
    }
    own.set(file, asAmbient(text))
  }
  if (!existsSync(entry)) throw new Error(`${entry} does not exist`)
  visit(entry)
  const imports = [...external].toSorted().map(([from, names]) => `import type { ${[...names].filter(Boolean).toSorted().join(', ')} } from '${from}'`)
  const texts = [...own.values()].map(text => text.trim()).filter(Boolean)
  return `${imports.join('\n')}\n\n${texts.join('\n')}\n\nexport { ${[...new Set(surface.map(name => name.replace(/^type /, '')))].toSorted().join(', ')} }\n`
}

/** Nothing is exported where it is declared: the surface stands at the end. */
const asAmbient = (text: string): string => text.replaceAll(/^export (?=declare |interface |type )/gm, '').replaceAll(/^export \{\};?$/gm, '')
