import type { ComponentChildren } from 'preact';
import { Button } from '../../ui/button';
import type { Saving } from '../../ui/form';
import { Problem } from '../../ui/problem';

interface FormProps {
  action: string;
  saving: Saving;
  save: () => Promise<unknown>;
  children?: ComponentChildren;
}

/** A form with one button at its end. */
export function Form({ action, saving, save, children }: FormProps) {
  return (
    <form
      class="signin"
      novalidate
      onSubmit={(event) => {
        event.preventDefault();
        void saving.run(save);
      }}
    >
      {saving.error !== undefined && <Problem error={saving.error} />}
      {children}
      <Button kind="primary" type="submit" busy={saving.busy}>
        {action}
      </Button>
    </form>
  );
}

/** Says why a mailed link leads nowhere. */
export function Dead({ children }: { children: ComponentChildren }) {
  return (
    <div class="notice bad" role="alert">
      <p>{children}</p>
    </div>
  );
}
