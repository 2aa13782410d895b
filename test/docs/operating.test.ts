import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'

const folder = join(import.meta.dirname, '../../docs/operating')
const pages = readdirSync(folder).filter(name => name.endsWith('.md'))
const linesOf = (page: string): readonly string[] => readFileSync(join(folder, page), 'utf8').split('\n')

describe('a page for operators', () => {
  it.each(pages)('wraps its lines at 120 characters, tables excepted: %s', page => {
    expect(linesOf(page).filter(line => line.length > 120 && !line.startsWith('|'))).toEqual([])
  })

  it.each(pages.filter(page => page !== 'README.md'))('is linked on the front page: %s', page => {
    expect(readFileSync(join(folder, 'README.md'), 'utf8')).toContain(`](${page})`)
  })
})
