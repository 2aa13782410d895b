import { posix } from 'node:path'
import { inFile, type Mistake } from './source/mistake.ts'

/** A file's import of another file of ours. */
export interface Import {
  readonly from: string
  readonly to: string
}

/**
 * Finds import cycles, type imports included. In every folder its entries are compared: a subfolder with everything in
 * it, or a single file. So the parts of a folder may import files beside the folder, and never their importers.
 * @returns one mistake for each cycle
 */
export function circlesOf(imports: Iterable<Import>): readonly Mistake[] {
  const mistakes: Mistake[] = []
  for (const edges of byFolder(imports).values()) {
    for (const circle of circlesIn(edges)) {
      const steps = circle.map((entry, index) => edges.get(entry)!.get(circle[(index + 1) % circle.length]!)!)
      const sentence = `${circle.join(' → ')} → ${circle[0]} is a circle of imports: ${steps.map(({ from, to }) => `${from} imports ${to}`).join(', ')}`
      mistakes.push(inFile(steps[0]!.from, 'IMPORT_CIRCLE', `${sentence}. Put what both need below both`))
    }
  }
  return mistakes
}

/** Returns for every folder which of its entries import which, each with an example. */
function byFolder(imports: Iterable<Import>): Map<string, Map<string, Map<string, Import>>> {
  const folders = new Map<string, Map<string, Map<string, Import>>>()
  for (const each of imports) {
    const [from, to] = [each.from.split('/'), each.to.split('/')]
    let depth = 0
    while (from[depth] === to[depth] && depth < from.length) depth++
    if (depth === from.length) continue
    const folder = from.slice(0, depth).join('/')
    const [one, other] = [from, to].map(path => path.slice(0, depth + 1).join('/')) as [string, string]
    const edges = folders.get(folder) ?? new Map<string, Map<string, Import>>()
    folders.set(folder, edges)
    const own = edges.get(one) ?? new Map<string, Import>()
    edges.set(one, own)
    if (!own.has(other)) own.set(other, each)
  }
  return folders
}

/** Returns a shortest cycle through each entry that is on one and not covered yet. */
function circlesIn(edges: ReadonlyMap<string, ReadonlyMap<string, unknown>>): readonly (readonly string[])[] {
  const circles: (readonly string[])[] = []
  const seen = new Set<string>()
  for (const start of [...edges.keys()].sort()) {
    if (seen.has(start)) continue
    const circle = circleThrough(start, edges)
    if (!circle || circle.some(entry => seen.has(entry))) continue
    for (const entry of circle) seen.add(entry)
    circles.push(circle)
  }
  return circles
}

function circleThrough(start: string, edges: ReadonlyMap<string, ReadonlyMap<string, unknown>>): readonly string[] | null {
  const before = new Map<string, string | null>([[start, null]])
  const queue = [start]
  for (const entry of queue) {
    for (const next of edges.get(entry)?.keys() ?? []) {
      if (next === start) {
        const circle: string[] = []
        for (let at: string | null = entry; at !== null; at = before.get(at) ?? null) circle.unshift(at)
        return circle
      }
      if (before.has(next)) continue
      before.set(next, entry)
      queue.push(next)
    }
  }
  return null
}

/** Returns our files that a source imports or refers to. @param code the source without the content of its literals */
export function* importsOf(file: string, source: string, code: string): Generator<Import & { readonly at: number }> {
  for (const match of code.matchAll(/(?:\b(?:from|import)\s*\(?|\bnew URL\()\s*(['"])/g)) {
    const at = match.index + match[0].length
    const specifier = source.slice(at, source.indexOf(match[1]!, at))
    // Packages cannot import the project; files read by path that contain no code are data.
    if (/^\..*\.[cm]?[jt]sx?$/.test(specifier)) yield { from: file, to: posix.join(posix.dirname(file), specifier), at }
  }
}
