import { Check, ChevronDown, X } from 'lucide-react'
import { useEffect, useState } from 'react'
import { Button } from '../../design/parts/button.tsx'
import { Icon } from '../../design/parts/icon.tsx'
import { Action, Menu } from '../../design/parts/menu.tsx'
import { goTo, withSearch } from '../address.tsx'
import { say } from '../words.ts'
import { Dates, hasRange } from './dates.tsx'

/** A filter that has a few values: its name in the address, its heading, and what each value is called. */
export interface Pill {
  readonly name: string
  readonly heading: string
  readonly values: readonly string[]
  title(value: string): string
}

/** What the address says of filters, by name; a value that a filter does not have counts as absent. */
export function chosenOf<Name extends string>(search: URLSearchParams, pills: readonly (Pill & { readonly name: Name })[]): Partial<Record<Name, string>> {
  const chosen: Partial<Record<Name, string>> = {}
  for (const { name, values } of pills) {
    const value = values.find(each => each.toLowerCase() === search.get(name)?.toLowerCase())
    if (value) chosen[name] = value
  }
  return chosen
}

/** A pill a filter, with its value. What is chosen stands in the address, so it can be kept and sent. @param text name and heading of a filter that is typed */
export function Filters({
  path,
  search,
  pills,
  text,
  hasDates = false,
}: {
  readonly path: string
  readonly search: URLSearchParams
  readonly pills: readonly Pill[]
  readonly text?: { readonly name: string; readonly heading: string }
  /** Whether two days bound the list. @default it has no times */
  readonly hasDates?: boolean
}) {
  const chosen = chosenOf(search, pills)
  const typed = text ? (search.get(text.name) ?? '') : ''
  const choose = (name: string, value: string | null) => goTo(withSearch(path, search, { [name]: value, after: null }), { replace: true })
  return (
    <search className="filters">
      {text && <Typed heading={text.heading} value={typed} onChange={value => choose(text.name, value || null)} />}
      {pills.map(({ name, heading, values, title }) => {
        const value = chosen[name]
        return (
          <Menu
            key={name}
            name={heading}
            button={
              <Button chosen={value !== undefined}>
                {value === undefined ? heading : `${heading}: ${title(value)}`}
                <Icon of={ChevronDown} />
              </Button>
            }
          >
            {values.map(each => (
              <Action key={each} id={each} name={title(each)} onAction={() => choose(name, each === value ? null : each.toLowerCase())}>
                {title(each)}
                {each === value && <Icon of={Check} />}
              </Action>
            ))}
          </Menu>
        )
      })}
      {hasDates && <Dates path={path} search={search} />}
      {(typed !== '' || (hasDates && hasRange(search)) || Object.keys(chosen).length > 0) && (
        <Button kind="quiet" icon={X} onPress={() => goTo(path, { replace: true })}>
          {say('list.clear')}
        </Button>
      )}
    </search>
  )
}

/** Looks for what was typed when nothing more was for 300 ms. */
function Typed({ heading, value, onChange }: { readonly heading: string; readonly value: string; onChange(value: string): void }) {
  const [text, setText] = useState(value)
  useEffect(() => setText(value), [value])
  useEffect(() => {
    if (text.trim() === value) return
    const timer = setTimeout(() => onChange(text.trim()), 300)
    return () => clearTimeout(timer)
  }, [text, value, onChange])
  return (
    <input className="input search" type="search" value={text} placeholder={heading} aria-label={heading} onChange={event => setText(event.target.value)} />
  )
}
