/** A function of a source: its name, if any, and the lines from its parameters to its end. */
export interface FunctionText {
  readonly name: string
  readonly line: number
  readonly lines: number
}

const opening: Readonly<Record<string, string>> = { ')': '(', ']': '[', '}': '{' }

/**
 * Finds the functions of a source whose bodies are blocks, or objects that an arrow function returns; any other
 * expression has no statements to divide. Nested functions and methods are listed as well, and count for the
 * surrounding function too.
 * @param code a source without the content of its literals and comments (`takeApart`)
 */
export function functionsIn(code: string): readonly FunctionText[] {
  const found: FunctionText[] = []
  const lines = [...code.matchAll(/\n/g)].map(({ index }) => index)
  const lineOf = (at: number): number => lines.findLastIndex(index => index < at) + 2
  const open: { readonly sign: string; readonly at: number }[] = []
  const pairs = new Map<number, number>()
  for (let at = 0; at < code.length; at++) {
    const sign = code[at]!
    if ('([{'.includes(sign)) open.push({ sign, at })
    else if (opening[sign]) {
      const begin = open.at(-1)?.sign === opening[sign] ? open.pop()! : undefined
      if (!begin) continue
      pairs.set(at, begin.at)
      if (sign !== '}') continue
      const head = headOf(code, begin.at, pairs)
      if (head) found.push({ name: head.name, line: lineOf(head.at), lines: lineOf(at) - lineOf(head.at) + 1 })
    }
  }
  return found
}

const control = /\b(?:if|for|while|switch|catch|with)$/
/** Maximum characters between a function's parameters and its body: its return type. */
const typeLength = 300

/**
 * Returns where the parameters of a body's function begin, and the function's name; null for a block that is no
 * function body.
 */
function headOf(code: string, brace: number, pairs: ReadonlyMap<number, number>): { readonly at: number; readonly name: string } | null {
  let end = lastBefore(code, brace)
  if (code[end] === '(' && code.slice(end - 3, end).includes('=>')) end = lastBefore(code, end)
  const isArrow = code[end] === '>' && code[end - 1] === '='
  if (isArrow) end = lastBefore(code, end - 1)
  const at = code[end] === ')' ? pairs.get(end) : typed(code, end, pairs)
  if (at === undefined) return isArrow ? { at: end, name: nameBefore(code, end) } : null
  const head = code.slice(Math.max(0, at - 60), at).trimEnd()
  return control.test(head) ? null : { at, name: nameBefore(code, at) }
}

/** Returns the position of the last non-blank character before another one. */
function lastBefore(code: string, at: number): number {
  let last = at - 1
  while (last >= 0 && /\s/.test(code[last]!)) last--
  return last
}

/** Returns where the parameters before a return type begin. */
function typed(code: string, end: number, pairs: ReadonlyMap<number, number>): number | undefined {
  const from = Math.max(0, end - typeLength)
  for (let at = end; at >= from; at--) {
    if (code[at] === ';' || (code[at] === '=' && code[at + 1] !== '>')) return undefined
    if (code[at] === ')' && /^\)\s*:\s*[\w[{(]/.test(code.slice(at, at + 40))) return pairs.get(at)
  }
  return undefined
}

const nameBefore = (code: string, at: number): string =>
  code.slice(Math.max(0, at - 80), at).match(/([\w#]+)(?:<[^>]*>)?\s*(?::[^=]*)?(?:=\s*)?(?:async\s*)?$/)?.[1] ?? 'a function'
