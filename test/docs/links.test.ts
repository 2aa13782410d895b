import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'
import { describe, expect, it } from 'vitest'

const root = join(import.meta.dirname, '../..')
const pages = execFileSync('git', ['ls-files', '-z', '*.md'], { cwd: root, encoding: 'utf8' })
  .split('\0')
  .filter(file => file !== '' && existsSync(join(root, file)))

/** Returns the text of a page without its blocks of code. */
const textOf = (file: string): string => readFileSync(join(root, file), 'utf8').replaceAll(/^ *```[\s\S]*?^ *```$/gm, '')

/** Returns the anchors of a page's headings, as GitHub makes them. */
function anchorsOf(file: string): ReadonlySet<string> {
  const seen = new Map<string, number>()
  const anchors = [...textOf(file).matchAll(/^#{1,6} (.+)$/gm)].map(([, heading]) => {
    const plain = heading!.replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1').toLowerCase()
    const anchor = plain.replaceAll(/[^\p{L}\p{N} _-]/gu, '').replaceAll(' ', '-')
    const times = seen.get(anchor) ?? 0
    seen.set(anchor, times + 1)
    return times === 0 ? anchor : `${anchor}-${times}`
  })
  return new Set(anchors)
}

/** Returns the links of a page that lead nowhere. */
function brokenLinks(file: string): readonly string[] {
  const inline = [...textOf(file).matchAll(/\]\(([^)\s]+)\)/g)].map(([, to]) => to!)
  const referenced = [...textOf(file).matchAll(/^\[[^\]]+\]: (\S+)$/gm)].map(([, to]) => to!)
  return [...inline, ...referenced].filter(to => {
    if (/^[a-z]+:/.test(to)) return false
    const [path = '', anchor] = to.split('#')
    const target = path === '' ? file : normalize(join(dirname(file), path))
    if (!existsSync(join(root, target))) return true
    return anchor !== undefined && target.endsWith('.md') && !anchorsOf(target).has(anchor)
  })
}

describe('a link of a document', () => {
  it.each(pages)('leads to a file and a heading that exist in %s', file => {
    expect(brokenLinks(file)).toEqual([])
  })
})
