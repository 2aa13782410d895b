import { useEffect, useState } from 'react'
import { usePath } from '../address.tsx'

/**
 * State of a form that outlives a reload: it lies in this tab's session storage, under the page's address, until the form was sent. Never for
 * secrets.
 * @param name of the form within its page
 * @returns the value, what changes it, and what forgets it once it was sent
 */
export function useDraft<Value>(name: string, initial: Value): readonly [Value, (value: Value) => void, () => void] {
  const key = `supergraph.draft.${usePath()}.${name}`
  const [value, setValue] = useState<Value>(() => {
    try {
      return { ...initial, ...(JSON.parse(sessionStorage.getItem(key) ?? '{}') as Value) }
    } catch {
      return initial
    }
  })
  const [isTouched, setTouched] = useState(false)
  useEffect(() => {
    if (isTouched) sessionStorage.setItem(key, JSON.stringify(value))
  }, [key, value, isTouched])
  const change = (next: Value) => {
    setTouched(true)
    setValue(next)
  }
  const forget = () => {
    setTouched(false)
    sessionStorage.removeItem(key)
  }
  return [value, change, forget]
}

/** The key of one opening of a form: however often it is sent, it has one effect. */
export const useOnce = (): string => useState(() => crypto.randomUUID())[0]
