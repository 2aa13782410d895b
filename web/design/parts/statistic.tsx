import { type ReactNode, useEffect, useRef, useState } from 'react'

/** A figure and what it counts; it lights up for a moment when it changes. */
export function Statistic({ label, value }: { readonly label: ReactNode; readonly value: string }) {
  const before = useRef(value)
  const [isChanged, setChanged] = useState(false)
  useEffect(() => {
    if (before.current === value) return
    before.current = value
    setChanged(true)
  }, [value])
  return (
    <div className="statistic">
      <dt>{label}</dt>
      <dd>
        <span className={isChanged ? 'changed' : undefined} onAnimationEnd={() => setChanged(false)}>
          {value}
        </span>
      </dd>
    </div>
  )
}

/** Several of them side by side. */
export const Statistics = ({ children }: { readonly children: ReactNode }) => <dl className="statistics">{children}</dl>
