import tokens from './tokens.json' with { type: 'json' }

const rem = (pixels: number): string => `${pixels / 16}rem`

const named = (prefix: string, values: Readonly<Record<string, string | number>>): readonly string[] =>
  Object.entries(values).map(([name, value]) => `--${prefix}-${name}: ${typeof value === 'number' ? rem(value) : value};`)

/**
 * Writes the tokens as CSS variables: colours by their names, which follow the theme, and measures in rem, so that a reader who
 * enlarges text loses nothing.
 */
export function tokensCss(): string {
  const colors = Object.entries(tokens.color).map(([name, { light, dark }]) => `--${name}: light-dark(${light}, ${dark});`)
  const type = Object.entries(tokens.type).map(([name, { size, line, weight }]) => `--type-${name}: ${weight} ${rem(size)}/${rem(line)} var(--font);`)
  const { space, radius, size, shadow, motion } = tokens
  const measures = [...named('space', space), ...named('radius', radius), ...named('size', size), ...named('shadow', shadow), ...named('motion', motion)]
  return `:root {\n${[...colors, ...type, ...measures].map(line => `  ${line}`).join('\n')}\n}\n`
}

/** The ratio of luminances of two colours (WCAG 2.2, 1.4.3). */
export function contrast(one: string, other: string): number {
  const [bright, dim] = [luminance(one), luminance(other)].sort((a, b) => b - a) as [number, number]
  return (bright + 0.05) / (dim + 0.05)
}

function luminance(hex: string): number {
  const [red, green, blue] = [1, 3, 5]
    .map(at => Number.parseInt(hex.slice(at, at + 2), 16) / 255)
    .map(part => (part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4)) as [number, number, number]
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue
}
