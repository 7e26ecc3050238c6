// Before every file of unit tests.
import { speak } from '.';

await speak('en');
