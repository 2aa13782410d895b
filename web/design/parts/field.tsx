import { type ReactNode, useId } from 'react'

export interface FieldProps {
  readonly label: string
  readonly value: string
  onChange(value: string): void
  readonly type?: 'text' | 'email' | 'search' | 'datetime-local' | 'date' | 'time' | 'url' | 'password'
  readonly name?: string
  readonly autoComplete?: string
  /** Lines of text; without it one line. */
  readonly rows?: number
  readonly hint?: ReactNode
  /** What is wrong with it, said at the field. */
  readonly wrong?: string | null | undefined
  readonly required?: boolean
  readonly readOnly?: boolean
  readonly lang?: string
  readonly inputMode?: 'decimal' | 'numeric'
}

/** A field with its label above it, and below what helps or what is wrong. */
export function Field({ label, value, onChange, rows, hint, wrong, ...rest }: FieldProps) {
  const id = useId()
  const below = wrong || hint ? `${id}-below` : undefined
  const shared = { ...rest, id, value, 'aria-invalid': wrong ? true : undefined, 'aria-describedby': below }
  return (
    <div className="field">
      <label htmlFor={id}>{label}</label>
      {rows === undefined ? (
        <input {...shared} onChange={event => onChange(event.target.value)} />
      ) : (
        <textarea {...shared} rows={rows} onChange={event => onChange(event.target.value)} />
      )}
      {below && (
        <p id={below} className={wrong ? 'wrong' : 'hint'}>
          {wrong || hint}
        </p>
      )}
    </div>
  )
}
