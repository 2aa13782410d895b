import { useEffect } from 'react'

/** Where an item is dealt with, on its service's own host. */
export function pathOf(url: string, service: string): string {
  const { pathname, search } = new URL(url, location.origin)
  return `${pathname.replace(new RegExp(`^/${service}(?=/)`), '')}${search}`
}

/**
 * `j` and `k` lead to the next and the former line, `x` presses its first button, `e` opens it; outside of fields alone.
 * @param selector of the lines
 */
export function useKeys(selector: string): void {
  useEffect(() => {
    const press = (event: KeyboardEvent) => {
      const target = event.target as Element
      if (event.ctrlKey || event.metaKey || event.altKey || /^(?:input|textarea|select)$/i.test(target.tagName)) return
      const lines = [...document.querySelectorAll<HTMLElement>(selector)]
      const at = lines.findIndex(line => line.contains(document.activeElement))
      if (event.key === 'j' || event.key === 'k')
        lines[Math.max(0, Math.min(at + (event.key === 'j' ? 1 : -1), lines.length - 1))]?.querySelector<HTMLElement>('a, button')?.focus()
      if (event.key === 'x') lines[at]?.querySelector('button')?.click()
      if (event.key === 'e') lines[at]?.querySelector('a')?.click()
    }
    addEventListener('keydown', press)
    return () => removeEventListener('keydown', press)
  }, [selector])
}
