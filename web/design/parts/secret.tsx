import { Copy } from 'lucide-react'
import { useState } from 'react'
import { Button } from './button.tsx'

/** A text to be taken elsewhere: it can be selected, and a button copies it. @param copied what stands on the button afterwards */
export function Copyable({ text, copy, copied }: { readonly text: string; readonly copy: string; readonly copied: string }) {
  const [isDone, setDone] = useState(false)
  return (
    <span className="copyable">
      <code>{text}</code>
      <Button kind="quiet" icon={Copy} onPress={() => void navigator.clipboard.writeText(text).then(() => setDone(true))}>
        {isDone ? copied : copy}
      </Button>
    </span>
  )
}
