import { describe, expect, it } from 'vitest'
import { contrast, tokensCss } from '../../web/design/css.ts'
import tokens from '../../web/design/tokens.json' with { type: 'json' }

const { color } = tokens
type Name = keyof typeof color
const grounds = ['surface', 'ground', 'sunken'] as const
const meanings = ['positive', 'warning', 'danger', 'info'] as const
const charts = ['chart-1', 'chart-2', 'chart-3', 'chart-4', 'chart-5', 'chart-6'] as const

/** Contrast of a colour on each of several grounds, rounded down to a tenth: the least of them. */
const least = (theme: 'light' | 'dark', name: Name, on: readonly Name[]) =>
  Math.min(...on.map(ground => Math.floor(contrast(color[name][theme], color[ground][theme]) * 10) / 10))

describe.each(['light', 'dark'] as const)('the tokens in %s', theme => {
  it('keep texts, links and meanings readable on every ground', () => {
    expect(least(theme, 'text', grounds)).toBeGreaterThanOrEqual(15)
    expect(least(theme, 'quiet', grounds)).toBeGreaterThanOrEqual(6.2)
    expect(least(theme, 'accent', grounds)).toBeGreaterThanOrEqual(6.7)
    for (const name of meanings) expect(least(theme, name, grounds), name).toBeGreaterThanOrEqual(5.5)
  })

  it('keep meanings and the accent readable on their soft grounds, and the edges of controls visible', () => {
    for (const name of [...meanings, 'accent'] as const) expect(least(theme, name, [`${name}-soft`]), name).toBeGreaterThanOrEqual(5.6)
    expect(least(theme, 'on-accent', ['accent'])).toBeGreaterThanOrEqual(7.7)
    expect(least(theme, 'edge', grounds)).toBeGreaterThanOrEqual(3)
  })

  it('tell the lines of charts from the surface', () => {
    for (const name of charts) expect(least(theme, name, ['surface']), name).toBeGreaterThanOrEqual(5)
  })
})

describe('tokensCss', () => {
  it('writes a colour for both themes and measures in rem', () => {
    expect(tokensCss()).toContain('--accent: light-dark(#4338CA, #A6A1FF);')
    expect(tokensCss()).toContain('--space-4: 1rem;')
    expect(tokensCss()).toContain('--type-page: 650 1.375rem/1.75rem var(--font);')
  })
})
