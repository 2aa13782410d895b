import { shown } from './state.tsx'

/** A value that is opened to be read; nothing is drawn for none. */
export const Value = ({ title, value }: { readonly title: string; readonly value: unknown }) =>
  value === null || value === undefined ? null : (
    <details>
      <summary>{title}</summary>
      <pre className="text small" dir="auto">
        {shown(value)}
      </pre>
    </details>
  )
